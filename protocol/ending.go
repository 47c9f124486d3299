package protocol

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/hookd-dev/hookd/internal/text"
)

// ended judges how the process ended, where that settles the matter.
func (r *reader) ended(end ProcessEnd) (ReadResult, bool) {
	switch {
	case end.Failure != nil:
		f := *end.Failure
		return r.failed(f.Kind, f.Detail, f.Remedy), true
	case end.Answered:
		return ReadResult{}, false
	case end.Signal != "":
		return r.failed(FailSignal, "ended by "+end.Signal, "hookd try shows all of the hook's output"), true
	case end.Exit == nil:
		return r.failed(FailExit, "ended without an exit code", ""), true
	case *end.Exit == 0:
		return ReadResult{}, false
	case *end.Exit == 2 && MayBlock(r.spec, r.hook):
		if why := r.noForce(end.Program); why != "" {
			return r.failed(FailExit, why, exitRemedy(0)), true
		}
		reply := Reply{Action: Block, Reason: r.exitReason()}
		return ReadResult{Reply: &reply, ByExit: true, Warnings: r.warnings()}, true
	}
	return r.failed(FailExit, fmt.Sprintf("exit code %d", *end.Exit), exitRemedy(*end.Exit)), true
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
	if r.spec.Block == BlockContinues {
		most = 8 << 10 // what the model is to mend
	}
	if tail := stderrTail(r.stderr, most); tail != "" {
		return tail
	}
	return reasonExit
}

// noForce says why exit code 2 does not force a run on, "" if it does or nothing is
// forced here. Interpreters end with 2, too, when they cannot run a program: that must
// not keep a run going, and a hook that wants it to go on says what is to be done.
func (r *reader) noForce(program []string) string {
	if r.spec.Block != BlockContinues {
		return ""
	}
	if r.exitReason() == reasonExit {
		return "exit code 2 without a text on stderr, which does not force the run on"
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(r.stderr)), "\n")
	for _, name := range program {
		if namesPlace(first, name) {
			return "exit code 2, and the first line of stderr is its interpreter's"
		}
	}
	return ""
}

// behindName is what interpreters write after the name of a file in which something is
// wrong: a line, or that it cannot be opened.
var behindName = regexp.MustCompile(`^["']?([:,]?\s*(line\s+)?[0-9]+|:\s*\[Errno)`)

// namesPlace reports whether a line names a file and a line in it.
func namesPlace(line, file string) bool {
	for rest := line; file != ""; {
		at := strings.Index(rest, file)
		if at < 0 {
			return false
		}
		begins := at == 0 || strings.ContainsRune(" \t\"'(:", rune(rest[at-1]))
		rest = rest[at+len(file):]
		if begins && behindName.MatchString(rest) {
			return true
		}
	}
	return false
}

// failed is a failure with the last line of stderr added for the person.
func (r *reader) failed(kind FailureKind, detail, remedy string) ReadResult {
	if line := lastLine(r.stderr); line != "" {
		detail += fmt.Sprintf("; last line of stderr: %q", text.Shorten(line, 300))
	}
	return ReadResult{Failure: &Failure{Kind: kind, Detail: detail, Remedy: remedy}, Warnings: r.warnings()}
}

// exitRemedy says what an exit code usually means.
func exitRemedy(code int) string {
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

// lastLine is the last line of a text that is not blank.
func lastLine(output []byte) string {
	trimmed := bytes.TrimSpace(output)
	if i := bytes.LastIndexAny(trimmed, "\r\n"); i >= 0 {
		trimmed = trimmed[i+1:]
	}
	return text.Valid(strings.TrimSpace(string(trimmed)))
}

// stderrTail is the end of stderr, at most limit bytes, from the beginning of a
// line where there is one.
func stderrTail(stderr []byte, limit int) string {
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
