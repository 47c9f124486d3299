// Package rulefile reads files of rules: NAME.rules.yaml or NAME.rules.json in a hooks
// folder, which hold hooks without a program.
//
//	rules:
//	  - name: no-push
//	    events: [tool-call-start]
//	    match: { command: git push * }
//	    reply: { action: block, reason: a person pushes here }
//
// Each rule is an entry of hooks.use that carries its reply (package protocol/rule), and is
// a hook of its own: it has its place in the order, its trust record and its line in hookd
// list. The file is only where it is written, so that several rules for one purpose can be
// taken, read, tested and removed together.
//
// [Parse] turns the text into a [schema.Described] for each rule. It reads strictly. What
// cannot be read may have been a guard: it is described as one whose events nobody knows,
// which fails at every gate. The package reads no folder; loader/internal/discover does.
package rulefile
