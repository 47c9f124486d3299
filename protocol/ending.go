package protocol

import (
	"bytes"
	"fmt"
	"strings"
)

// ended judges how the process ended, where that settles the matter.
func (r *reader) ended(end Ending) (Reading, bool) {
	switch {
	case end.Failure != nil:
		f := *end.Failure
		return r.failed(f.Kind, f.Detail, f.Remedy), true
	case end.Answered:
		return Reading{}, false
	case end.Signal != "":
		return r.failed(FailSignal, "ended by "+end.Signal, "hookd try shows all of the hook's output"), true
	case end.Exit == nil:
		return r.failed(FailExit, "ended without an exit code", ""), true
	case *end.Exit == 0:
		return Reading{}, false
	case *end.Exit == 2 && MayBlock(r.spec, r.voter):
		reply := Reply{Action: Block, Reason: r.exitReason()}
		return Reading{Reply: &reply, ByExit: true, Warnings: r.warnings()}, true
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
	if tail := stderrTail(r.stderr, 1000); tail != "" {
		return tail
	}
	return reasonExit
}

// failed is a failure with the last line of stderr added for the person.
func (r *reader) failed(kind FailureKind, detail, remedy string) Reading {
	if line := lastLine(r.stderr); line != "" {
		detail += fmt.Sprintf("; last line of stderr: %q", shorten(line, 300))
	}
	return Reading{Failure: &Failure{Kind: kind, Detail: detail, Remedy: remedy}, Warnings: r.warnings()}
}

// exitRemedy says what an exit code usually means.
func exitRemedy(code int) string {
	switch {
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
func lastLine(text []byte) string {
	trimmed := bytes.TrimSpace(text)
	if i := bytes.LastIndexAny(trimmed, "\r\n"); i >= 0 {
		trimmed = trimmed[i+1:]
	}
	return validText(strings.TrimSpace(string(trimmed)))
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
	return validText(strings.TrimSpace(string(tail)))
}
