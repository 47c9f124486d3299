// Package gohooks is the gate of an agent loop that was given none: it asks hooks written
// in Go, those of the loop's providers, and nothing else.
//
// The hooks are asked in one running order, within their time limits, and their failures
// follow their rules, as in the executor. What the executor has beyond that is not here:
// records, matching by pattern or expression, metadata, and recipes' texts for hooks. A
// hook that needs one of these is refused by [Gate.Extend], or told so when it asks for
// it. All hooks of an event are waited for.
//
// A hook's state lives as long as the gate, and follows the executor's rule (package
// hookvalues): events side by side see the same old value, the later one's stands, and the
// hook's run says which one is lost.
package gohooks
