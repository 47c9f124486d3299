package readreply

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
)

// ended judges how the process ended, where that settles the matter.
func (r *reader) ended(end ProcessEnd) (protocol.ReadResult, bool) {
	switch {
	case end.Failure != nil:
		f := *end.Failure
		return r.failed(f.Kind, f.Detail, f.Remedy), true
	case end.Answered:
		return protocol.ReadResult{}, false
	case end.Signal != "":
		return r.failed(protocol.FailSignal, "ended by "+end.Signal, "hookd try shows all of the hook's output"), true
	case end.Exit == nil:
		return r.failed(protocol.FailExit, "ended without an exit code", ""), true
	case *end.Exit == 0:
		return protocol.ReadResult{}, false
	case *end.Exit == 2 && protocol.MayBlock(r.spec, r.hook):
		if why := r.noForce(end.Program); why != "" {
			return r.failed(protocol.FailExit, why, ExitRemedy(0)), true
		}
		reply := protocol.Reply{Action: protocol.Block, Reason: r.exitReason()}
		return protocol.ReadResult{Reply: &reply, ByExit: true, Warnings: r.warnings()}, true
	}
	remedy := ExitRemedy(*end.Exit)
	if emptyHookd().MatchString(LastLine(r.stderr)) {
		remedy = `a hook that calls "$HOOKD" needs the program hookd: put it into a folder of the hooks' PATH outside every project and checkout, or name it in hookd.Options.Program`
	}
	return r.failed(protocol.FailExit, fmt.Sprintf("exit code %d", *end.Exit), remedy), true
}

// exitReason is the reason of a block by exit code 2: the reply's, else the end
// of stderr, else a fixed text.
func (r *reader) exitReason() string {
	for _, d := range r.output.documents {
		if reason := strings.TrimSpace(looseMember(r.object(d), "reason")); reason != "" {
			return reason
		}
	}
	most := 1000
	if r.spec.Block == protocol.BlockContinues {
		most = 8 << 10 // what the model is to mend
	}
	if tail := StderrTail(r.stderr, most); tail != "" {
		return tail
	}
	return reasonExit
}

// noForce says why exit code 2 does not force a run on, "" if it does or nothing is
// forced here. Interpreters end with 2, too, when they cannot run a program: that must
// not keep a run going, and a hook that wants it to go on says what is to be done.
func (r *reader) noForce(program []string) string {
	if r.spec.Block != protocol.BlockContinues {
		return ""
	}
	if r.exitReason() == reasonExit {
		return "exit code 2 without a text on stderr, which does not force the run on"
	}
	if NamesProgram(r.stderr, program) {
		return "exit code 2, and the first line of stderr is its interpreter's"
	}
	return ""
}

// NamesProgram reports whether the first line of stderr is that of an interpreter that
// says where a program is wrong. program are the names that the program may have there.
func NamesProgram(stderr []byte, program []string) bool {
	first, _, _ := strings.Cut(strings.TrimSpace(string(stderr)), "\n")
	return slices.ContainsFunc(program, func(name string) bool { return namesPlace(first, name) })
}

// behindName is what interpreters write after the name of a file in which something is
// wrong: a line, or that it cannot be opened.
var behindName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^["']?([:,]?\s*(line\s+)?[0-9]+|:\s*\[Errno)`) })

// namesPlace reports whether a line names a file and a line in it.
func namesPlace(line, file string) bool {
	for rest := line; file != ""; {
		at := strings.Index(rest, file)
		if at < 0 {
			return false
		}
		begins := at == 0 || strings.ContainsRune(" \t\"'(:", rune(rest[at-1]))
		rest = rest[at+len(file):]
		if begins && behindName().MatchString(rest) {
			return true
		}
	}
	return false
}

// failed is a failure with the last line of stderr added for the person.
func (r *reader) failed(kind protocol.FailureKind, detail, remedy string) protocol.ReadResult {
	if line := LastLine(r.stderr); line != "" {
		detail += fmt.Sprintf("; last line of stderr: %q", text.Shorten(line, 300))
	}
	return protocol.ReadResult{Failure: &protocol.Failure{Kind: kind, Detail: detail, Remedy: remedy}, Warnings: r.warnings()}
}

// emptyHookd fits the last words of a shell that was to run "$HOOKD" and has no such
// variable: with set -u it names the variable, otherwise a command without a name.
var emptyHookd = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bHOOKD\b|: : `) })

// ExitRemedy says what an exit code usually means.
func ExitRemedy(code int) string {
	switch {
	case code == 0:
		return "to have the run go on, write what is to be done to stderr and end with 2, or answer with hookd reply block"
	case code == 2:
		return "exit code 2 blocks, which this hook may not do here"
	case code == 126:
		return "a program it calls is not executable"
	case code == 127:
		return "a program it calls, or its interpreter, was not found: check its first line and PATH (hooks.path adds folders)"
	case code > 128 && code < 160:
		return fmt.Sprintf("the code often means that a program it called was ended by signal %d", code-128)
	}
	return "a hook that has nothing to say ends with exit code 0; set -e ends a script at the first command that fails"
}

// LastLine is the last line of a text that is not blank.
func LastLine(output []byte) string {
	trimmed := bytes.TrimSpace(output)
	if i := bytes.LastIndexAny(trimmed, "\r\n"); i >= 0 {
		trimmed = trimmed[i+1:]
	}
	return text.Valid(strings.TrimSpace(string(trimmed)))
}

// StderrTail is the end of stderr, at most limit bytes, from the beginning of a
// line where there is one.
func StderrTail(stderr []byte, limit int) string {
	tail := bytes.TrimSpace(stderr)
	if len(tail) > limit {
		tail = tail[len(tail)-limit:]
		if i := bytes.IndexByte(tail, '\n'); i >= 0 && i < len(tail)-1 {
			tail = tail[i+1:]
		}
		tail = bytes.ToValidUTF8(tail, nil)
	}
	return text.Valid(strings.TrimSpace(string(tail)))
}
