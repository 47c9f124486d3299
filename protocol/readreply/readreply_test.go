package readreply

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/hookd-dev/hookd/protocol"
)

const eventID = "01JEVENT"

// process is how a hook's process behaved.
type process struct {
	stdout, stderr string
	exit           int
	signal         string
	failure        protocol.FailureKind
	answered       bool
}

func read(event protocol.EventName, class protocol.Class, p process) protocol.ReadResult {
	end := ProcessEnd{Signal: p.signal, Answered: p.answered}
	if p.failure != "" {
		end.Failure = &protocol.Failure{Kind: p.failure, Detail: "timed out after 2s"}
	} else if p.signal == "" && !p.answered {
		end.Exit = &p.exit
	}
	v := protocol.HookInfo{Name: "hook", Layer: protocol.Project, Class: class}
	return Read(protocol.Lookup(event), v, []byte(p.stdout), []byte(p.stderr), end, eventID, Limits{})
}

// verdict is a reading in short: the action, or the failure's kind in brackets.
func verdict(r protocol.ReadResult) string {
	switch {
	case r.Failure != nil && r.Reply != nil:
		return "both"
	case r.Failure != nil:
		return "[" + string(r.Failure.Kind) + "]"
	case r.Reply == nil:
		return "neither"
	case r.ByExit:
		return string(r.Reply.Action) + " by exit"
	}
	return string(r.Reply.Action)
}

const (
	okBlock   = `{"action":"block","reason":"no"}`
	okStop    = `{"action":"stop","reason":"enough"}`
	okObserve = `{"action":"observe"}`
	okModify  = `{"action":"modify","changes":{"args":{"command":"ls -la"}}}`
)

func utf16Text(s string, order binary.ByteOrder, mark bool) string {
	units := utf16.Encode([]rune(s))
	if mark {
		units = append([]uint16{0xFEFF}, units...)
	}
	b := make([]byte, 2*len(units))
	for i, u := range units {
		order.PutUint16(b[2*i:], u)
	}
	return string(b)
}

// How a reply is read, at tool-call-start by a modifier (which may do all).
func TestReadReply(t *testing.T) {
	deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	tests := []struct {
		name  string
		p     process
		want  string
		words string // in the reason, detail, remedy or a warning
	}{
		{"nothing", process{}, "observe", ""},
		{"blanks", process{stdout: " \n\r\n\t"}, "observe", ""},
		{"only a byte order mark", process{stdout: "\xef\xbb\xbf"}, "observe", ""},
		{"empty object", process{stdout: "{}\n"}, "observe", ""},
		{"observe", process{stdout: okObserve}, "observe", ""},
		{"allow elsewhere", process{stdout: `{"action":"allow"}`}, "observe", "permission-request only"},
		{"bare continue", process{stdout: `{"action":"continue"}`}, "observe", ""},
		{"continue with a reason where it cannot force on", process{stdout: `{"action":"continue","reason":"fine"}`}, "observe", ""},
		{"continue with changes", process{stdout: `{"action":"continue","changes":{"args":{"a":1}}}`}, "modify", ""},
		{"modify", process{stdout: okModify}, "modify", ""},
		{"changes alone", process{stdout: `{"changes":{"args":{"a":1}}}`}, "modify", ""},
		{"patch alone", process{stdout: `{"patch":[]}`}, "modify", ""},
		{"result alone", process{stdout: `{"result":{"content":"x"}}`}, "modify", ""},
		{"context alone", process{stdout: `{"context":"today is Friday"}`}, "observe", ""},
		{"reason alone", process{stdout: `{"reason":"x"}`}, "observe", "has no effect"},
		{"deny", process{stdout: `{"action":"deny","reason":"no"}`}, "block", "no"},
		{"ask", process{stdout: `{"action":"ask"}`}, "ask", ""},

		{"block", process{stdout: okBlock}, "block", "no"},
		{"block without a reason", process{stdout: `{"action":"block"}`}, "block", "refused without a reason"},
		{"block with an empty reason", process{stdout: `{"action":"block","reason":"  "}`}, "block", "refused without a reason"},
		{"block and exit 1", process{stdout: okBlock, exit: 1}, "block", "no"},
		{"block and exit 2 is not by exit", process{stdout: okBlock, exit: 2}, "block", "no"},
		{"block and a signal", process{stdout: okBlock, signal: "SIGKILL"}, "block", "no"},
		{"block, then a time-out", process{stdout: okBlock, failure: protocol.FailTimeout}, "block", "no"},
		{"block, then a flood", process{stdout: okBlock + "\n" + strings.Repeat("x", 1000), failure: protocol.FailOutput}, "block", "no"},
		{"block, then an abort", process{stdout: okBlock, failure: protocol.FailAborted}, "[aborted]", ""},
		{"stop over block", process{stdout: okBlock + "\n" + okStop}, "stop", "enough"},
		{"stop under a time-out", process{stdout: okStop, failure: protocol.FailBudget}, "stop", "enough"},
		{"block beside changes", process{stdout: `{"action":"block","reason":"no","changes":{"args":{}}}`}, "block", "ignored"},
		{"block with a number as reason", process{stdout: `{"action":"block","reason":42}`}, "block", "42"},
		{"block with an unknown member", process{stdout: `{"action":"block","raeson":"no"}`}, "block", `nearest is "reason"`},
		{"block for another event", process{stdout: `{"action":"block","reason":"no","id":"other"}`}, "block", "another event"},
		{"block with NaN beside it", process{stdout: `{"action":"block","reason":"no","metadata":{"score":NaN}}`}, "block", "metadata is not valid"},
		{"block with a depth bomb beside it", process{stdout: `{"action":"block","reason":"no","state":` + deep + `}`}, "block", "state is not valid"},
		{"block with raw line breaks", process{stdout: "{\"action\":\"block\",\"reason\":\"line 1\nline 2\"}"}, "block", "line 1\nline 2"},
		{"block with an unknown escape", process{stdout: `{"action":"block","reason":"matches \d+"}`}, "block", `matches \d+`},
		{"block with invalid UTF-8", process{stdout: "{\"action\":\"block\",\"reason\":\"caf\xe9\"}"}, "block", "caf\ufffd"},
		{"block with half a surrogate", process{stdout: `{"action":"block","reason":"\udc00"}`}, "block", "\ufffd"},
		{"block repeated as observe", process{stdout: `{"action":"block","action":"observe"}`}, "block", "repeated"},
		{"observe repeated as block", process{stdout: `{"action":"observe","action":"block"}`}, "block", "repeated"},
		{"block in UTF-16", process{stdout: utf16Text(okBlock, binary.LittleEndian, true)}, "block", "no"},
		{"half a character of UTF-16", process{stdout: "\xff\xfe}"}, "[reply]", "UTF-16"},
		{"pretty block", process{stdout: "{\n  \"action\": \"block\",\n  \"reason\": \"no\"\n}\n"}, "block", "no"},
		{"escaped action", process{stdout: `{"\u0061ction":"bl\u006fck"}`}, "block", ""},

		{"banner, then block", process{stdout: "hello from profile\n" + okBlock}, "block", "hello from profile"},
		{"banner, then observe", process{stdout: "hello\n" + okObserve + "\nbye\n"}, "observe", "hello"},
		{"banner in braces", process{stdout: "{info} starting\n" + okObserve}, "observe", "{info} starting"},
		{"list before the reply", process{stdout: "[1,2]\n" + okObserve}, "observe", ""},
		{"banner with CR", process{stdout: "50%\r100%\r\n" + okObserve + "\r\n"}, "observe", "50%"},
		{"BOM before the reply", process{stdout: "\xef\xbb\xbf" + okModify}, "modify", ""},
		{"BOM behind a banner", process{stdout: "hi\n\xef\xbb\xbf" + okModify}, "modify", ""},
		{"many notes", process{stdout: strings.Repeat("x\n", 50) + okObserve}, "observe", "47 more lines"},
		{"banner without a line break", process{stdout: "hello" + okBlock}, "[reply]", "no JSON object begins a line"},

		{"two documents", process{stdout: okObserve + "\n" + okObserve}, "[reply]", "2 JSON objects on stdout, in line 1 and line 2"},
		{"note object, then block", process{stdout: `{"note":"x"}` + "\n" + okBlock}, "block", "no"},
		{"modify, then block", process{stdout: okModify + "\n" + okBlock}, "block", "no"},
		{"block, then modify", process{stdout: okBlock + "\n" + okModify}, "block", "no"},
		{"modify and block on one line", process{stdout: okModify + okBlock}, "block", "no"},
		{"block in a list is not top-level", process{stdout: "[\n" + okBlock + "\n]"}, "[reply]", "a list"},
		{"allow in a list", process{stdout: "[\n{\"action\":\"allow\"}\n]"}, "[reply]", "a list"},
		{"nested block", process{stdout: `{"reply":` + okBlock + `}`}, "[reply]", `unknown member "reply"`},
		{"text behind the reply on its line", process{stdout: okObserve + "}"}, "[reply]", "text behind the JSON object"},
		{"text behind a block", process{stdout: okBlock + "}"}, "block", "no"},

		{"misspelt action", process{stdout: `{"action":"bolck"}`}, "[reply]", `unknown action "bolck", the nearest is "block"`}, // H19
		{"action in capitals", process{stdout: `{"action":"BLOCK"}`}, "[reply]", `nearest is "block"`},
		{"null action", process{stdout: `{"action":null}`}, "[reply]", "the action is null"},
		{"number action", process{stdout: `{"action":1}`}, "[reply]", "the action is 1"},
		{"cut", process{stdout: `{"bl`}, "[reply]", "ends too early"},
		{"cut block", process{stdout: `{"action":"block","reason":"becau`}, "[reply]", "ends too early"},
		{"a string", process{stdout: `"ok"`}, "[reply]", "no JSON object"},
		{"a number", process{stdout: `42`}, "[reply]", "no JSON object"},
		{"true", process{stdout: `true`}, "[reply]", "no JSON object"},
		{"unknown members alone", process{stdout: `{"dicision":"approve"}`}, "[reply]", "no member \"action\""},
		{"misspelt action member", process{stdout: `{"acton":"block"}`}, "[reply]", `nearest is "action"`},
		{"unknown member beside an action", process{stdout: `{"action":"observe","x":1}`}, "observe", "unknown member \"x\""},
		{"repeated key", process{stdout: `{"action":"observe","reason":"a","reason":"b"}`}, "[reply]", `"reason" is repeated`},
		{"reason of the wrong type", process{stdout: `{"action":"observe","reason":1}`}, "[reply]", "at /reason, line 1, byte 29"},
		{"changes of the wrong type", process{stdout: `{"action":"modify","changes":[]}`}, "[reply]", "a list where an object is expected"},
		{"patch of the wrong type", process{stdout: `{"action":"modify","patch":{}}`}, "[reply]", "an object where a list is expected"},
		{"modify with nothing", process{stdout: `{"action":"modify"}`}, "[reply]", "modify without changes"},
		{"both forms", process{stdout: `{"action":"modify","changes":{},"patch":[]}`}, "[reply]", "together"},
		{"changes beside observe", process{stdout: `{"action":"observe","changes":{"args":{}}}`}, "[reply]", "changes beside observe"},
		{"response at a tool call", process{stdout: `{"action":"modify","response":{}}`}, "[reply]", "response is not possible"},
		{"callback at a tool call", process{stdout: `{"action":"callback","callback":{"name":"x"}}`}, "[reply]", "callback is not possible at tool-call-start (a gate)"},
		{"continue with messages at a tool call", process{stdout: `{"action":"continue","messages":[{"role":"user","content":"x"}]}`}, "[reply]", "continue is not possible"},
		{"NaN in a change", process{stdout: `{"action":"modify","changes":{"args":{"n":NaN}}}`}, "[reply]", "at /changes/args/n, line 1, byte 42"}, // H50
		{"Infinity", process{stdout: `{"action":"modify","changes":{"args":{"n":-Infinity}}}`}, "[reply]", "at /changes/args/n"},
		{"1e400 is a number", process{stdout: `{"action":"modify","changes":{"args":{"n":1e400}}}`}, "modify", ""},
		{"invalid UTF-8", process{stdout: "{\"action\":\"observe\",\"notice\":\"\xff\"}"}, "[reply]", "UTF-8"},
		{"depth bomb", process{stdout: `{"action":"observe","state":` + deep + `}`}, "[reply]", "nested too deeply"},
		{"endless brackets", process{stdout: strings.Repeat("[", 100_000)}, "[reply]", ""},
		{"endless objects", process{stdout: strings.Repeat("{\"a\":[\n", 100_000)}, "[reply]", "nested too deeply"},
		{"UTF-16", process{stdout: utf16Text(okObserve, binary.LittleEndian, true)}, "[reply]", "UTF-16"},
		{"UTF-16 without mark", process{stdout: utf16Text(okModify, binary.BigEndian, false)}, "[reply]", "UTF-16"},
		{"64 MiB string", process{stdout: `{"action":"observe","notice":"` + strings.Repeat("x", 64<<20) + `"}`}, "[output]", "the limit is 1048576"},
		{"answer for another event", process{stdout: `{"action":"allow","id":"other"}`}, "[reply]", `repeats the id "other"`},
		{"answer for this event", process{stdout: `{"action":"observe","id":"` + eventID + `"}`}, "observe", ""},
		{"state over its limit", process{stdout: `{"action":"observe","state":"` + strings.Repeat("x", 70_000) + `"}`}, "observe", "not kept"},
		{"control characters", process{stdout: "{\"action\":\"observe\",\"notice\":\"a\nb\"}"}, "[reply]", ""},

		{"exit 1", process{stderr: "Traceback\nValueError: x\n", exit: 1}, "[exit]", `exit code 1; last line of stderr: "ValueError: x"`}, // H02
		{"exit 1 with a good reply", process{stdout: okModify, exit: 1}, "[exit]", "exit code 1"},
		{"exit 139", process{exit: 139}, "[exit]", "signal 11"},
		{"exit 127", process{stderr: "env: python3: not found", exit: 127}, "[exit]", "interpreter"},
		{"exit 126", process{exit: 126}, "[exit]", "not executable"},
		{"no hookd, set -u", process{stderr: "guard.sh: 19: HOOKD: parameter not set", exit: 1}, "[exit]", "needs the program hookd"},
		{"no hookd", process{stderr: "guard.sh: line 3: : command not found", exit: 1}, "[exit]", "needs the program hookd"},
		{"signal", process{signal: "SIGSEGV"}, "[signal]", "ended by SIGSEGV"},
		{"signal with a good reply", process{stdout: okModify, signal: "SIGKILL"}, "[signal]", "SIGKILL"},
		{"time-out", process{failure: protocol.FailTimeout, stderr: "waiting\n"}, "[timeout]", `timed out after 2s; last line of stderr: "waiting"`},
		{"time-out with a good reply", process{stdout: okModify, failure: protocol.FailTimeout}, "[timeout]", ""},
		{"exit 2", process{exit: 2}, "block by exit", "exit code 2, without a reason"}, // H22
		{"exit 2 with stderr", process{exit: 2, stderr: "no rm here\n"}, "block by exit", "no rm here"},
		{"exit 2 with a reply", process{exit: 2, stdout: `{"action":"observe","reason":"because"}`, stderr: "x"}, "block by exit", "because"},
		{"exit 2 with garbage", process{exit: 2, stdout: "usage: x\n", stderr: "x: bad option\n"}, "block by exit", "bad option"},
		{"exit 2 with stop", process{exit: 2, stdout: okStop}, "stop", "enough"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := read(protocol.ToolCallStart, protocol.CanModify, test.p)
			if got := verdict(r); got != test.want {
				t.Fatalf("read as %s, want %s (%v, %v)", got, test.want, r.Failure, r.Warnings)
			}
			said := strings.Join(r.Warnings, "\n")
			if r.Failure != nil {
				said += "\n" + r.Failure.Detail + "\n" + r.Failure.Remedy
			} else {
				said += "\n" + r.Reply.Reason
				if r.Reply.Action == protocol.Block && r.Reply.Reason == "" {
					t.Error("a block without a reason")
				}
			}
			if !strings.Contains(said, test.words) {
				t.Errorf("%q does not say %q", said, test.words)
			}
			if len(said) > 5000 {
				t.Errorf("%d bytes of words for one reply", len(said))
			}
		})
	}
}

// F61: exit code 2 at agent-stop forces on with what stands on stderr, unless that is
// an interpreter's word about the hook itself.
func TestExitCodeTwoForcesOn(t *testing.T) {
	lines := strings.Repeat("--- FAIL: \"it's\" {broken} \\n\n", 30)
	two := 2
	for stderr, forces := range map[string]bool{
		lines:                                   true,
		"tests fail":                            true,
		"\n\ntests fail":                        true,
		"lint: .acai/hooks/stop.sh:3: unused":   true,
		"see /copy/stop.sh for the rule":        true,
		"/copy/stop.sh.bak: 3: lint":            true,
		"first\n/copy/stop.sh: 3: Syntax error": true,
		"/copy/stop.sh: 3: Syntax error: \"fi\" unexpected":                      false,
		"\n/copy/stop.sh: line 3: syntax error near unexpected token `fi'\nmore": false,
		"/copy/stop.sh: line 12: [: -eq: unary operator expected":                false,
		"  File \"/copy/stop.sh\", line 3":                                       false,
		"python3: can't open file '/copy/stop.sh': [Errno 2] No such file":       false,
		"No such file or directory at /copy/stop.sh line 3.":                     false,
		"/bin/sh: 0: cannot open x":                                              false,
		"bash: -c: line 1: syntax error: unexpected end of file":                 false,
	} {
		r := Read(protocol.Lookup(protocol.AgentStop), protocol.HookInfo{Name: "h", Layer: protocol.Project, Class: protocol.CanBlock}, nil, []byte(stderr),
			ProcessEnd{Exit: &two, Program: []string{"/bin/sh", "/copy/stop.sh", "-c"}}, eventID, Limits{})
		if forces != (r.Reply != nil && r.ByExit) || !forces && r.Failure.Kind != protocol.FailExit {
			t.Errorf("%q: forces on: %v; %+v", stderr, r.Reply != nil, r.Failure)
		}
		if forces && !strings.HasSuffix(strings.TrimSpace(stderr), strings.TrimSpace(r.Reply.Reason)) || forces && len(r.Reply.Reason) < min(len(strings.TrimSpace(stderr)), 8<<10) {
			t.Errorf("%q: the reason is %q", stderr, r.Reply.Reason)
		}
		if at := Read(protocol.Lookup(protocol.ToolCallStart), protocol.HookInfo{Name: "h", Layer: protocol.Project, Class: protocol.CanBlock}, nil, []byte(stderr),
			ProcessEnd{Exit: &two, Program: []string{"/bin/sh", "/copy/stop.sh", "-c"}}, eventID, Limits{}); at.Reply == nil || at.Reply.Action != protocol.Block {
			t.Errorf("%q: no block at tool-call-start: %+v", stderr, at.Failure)
		}
	}
}

// A6: a reply that was written for another agent is a failure that names what to write,
// whichever hook answers it, and together with an action, too. A refusal counts all the same.
func TestRepliesOfOtherProtocolsFail(t *testing.T) {
	for reply, words := range map[string]string{
		`{"decision":"block","reason":"no"}`: `"action" ("block"`,
		`{"decision":"approve"}`:             `"action"`,
		`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}`: `members of the reply itself`,
		`{"permissionDecision":"deny"}`:                                         `"action"`,
		`{"permission":"deny","user_message":"no"}`:                             `"action"`,
		`{"continue":false,"stopReason":"no"}`:                                  `"action":"stop"`,
		`{"continue":true}`:                                                     `nothing for true`,
		`{"systemMessage":"careful"}`:                                           `"notice"`,
		`{"suppressOutput":true}`:                                               `not shown`,
		`{"reason":"no","decision":"block"}`:                                    `"action"`,
		`{"action":"observe","decision":"block"}`:                               `"action"`,
		`{"action":"modify","changes":{"args":{"a":1}},"updatedInput":{"a":1}}`: `"changes":{"args"`,
		`{"context":"x","additionalContext":"y"}`:                               `"context"`,
		`{"notice":"x","blocked":true}`:                                         `"action":"block"`,
	} {
		for _, class := range []protocol.Class{protocol.CanObserve, protocol.CanBlock, protocol.CanModify} {
			r := read(protocol.ToolCallStart, class, process{stdout: reply})
			if r.Failure == nil || r.Failure.Kind != protocol.FailReply || !strings.Contains(r.Failure.Detail, "another protocol") || !strings.Contains(r.Failure.Detail, words) {
				t.Errorf("%s of a %s hook: %+v %v", reply, class, r.Reply, r.Failure)
			}
		}
	}
	r := read(protocol.ToolCallStart, protocol.CanModify, process{stdout: `{"action":"block","reason":"no","decision":"approve"}`})
	if r.Reply == nil || r.Reply.Action != protocol.Block || !strings.Contains(strings.Join(r.Warnings, " "), "another protocol") {
		t.Errorf("a block beside a foreign member: %+v %v", r.Reply, r.Warnings)
	}
	for _, name := range replyMembers {
		if foreign(name) != "" {
			t.Errorf("%s is a member of ours", name)
		}
	}
}

// A refusal that this hook may not give here does not count as one; what counts
// instead depends on how the hook ended.
func TestReadReplyWhereRefusingIsNotPossible(t *testing.T) {
	tests := []struct {
		name  string
		event protocol.EventName
		class protocol.Class
		p     process
		want  string
		words string
	}{
		{"observer blocks", protocol.ToolCallStart, protocol.CanObserve, process{stdout: okBlock}, "[reply]", "an observer"},
		{"observer stops", protocol.ToolCallStart, protocol.CanObserve, process{stdout: okStop}, "[reply]", "an observer"},
		{"observer exits 2", protocol.ToolCallStart, protocol.CanObserve, process{exit: 2}, "[exit]", "exit code 2"},
		{"observer blocks and times out", protocol.ToolCallStart, protocol.CanObserve, process{stdout: okBlock, failure: protocol.FailTimeout}, "[timeout]", ""},
		{"block at a point", protocol.StepStop, protocol.CanModify, process{stdout: okBlock}, "[reply]", "possible here: observe, stop, continue, changes to messages, callback"},
		{"exit 2 at a point", protocol.StepStop, protocol.CanModify, process{exit: 2}, "[exit]", "exit code 2"},
		{"stop at a point", protocol.StepStop, protocol.CanBlock, process{stdout: okStop}, "stop", ""},
		{"stop where nothing stops", protocol.AgentEnd, protocol.CanBlock, process{stdout: okStop}, "[reply]", "possible here: observe, continue"},
		{"block at a notice", protocol.SessionEnd, protocol.CanBlock, process{stdout: okBlock}, "[reply]", "a notice"},
		{"exit 2 at a notice", protocol.SessionEnd, protocol.CanBlock, process{exit: 2}, "[exit]", ""},
		{"block where only the stop is possible", protocol.CompactEnd, protocol.CanBlock, process{stdout: okBlock + "\n" + okStop}, "stop", "enough"},
		{"exit 2 at agent-stop", protocol.AgentStop, protocol.CanBlock, process{exit: 2, stderr: "tests fail\n"}, "block by exit", "tests fail"},
		{"exit 2 at agent-stop, blanks", protocol.AgentStop, protocol.CanBlock, process{exit: 2, stderr: " \n\t\n"}, "[exit]", "without a text on stderr"},
		{"exit 2 at subagent-stop, nothing", protocol.SubagentStop, protocol.CanModify, process{exit: 2}, "[exit]", "without a text on stderr"},
		{"exit 2 of an observer at agent-stop", protocol.AgentStop, protocol.CanObserve, process{exit: 2, stderr: "tests fail\n"}, "[exit]", "exit code 2"},
		{"block at agent-stop", protocol.AgentStop, protocol.CanBlock, process{stdout: okBlock}, "block", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := read(test.event, test.class, test.p)
			if got := verdict(r); got != test.want {
				t.Fatalf("read as %s, want %s (%v)", got, test.want, r.Failure)
			}
			if said := fmt.Sprint(r.Failure, r.Reply); !strings.Contains(said, test.words) {
				t.Errorf("%s does not say %q", said, test.words)
			}
		})
	}
}

// The seam for standby and resident hooks (§9): only a reply that repeats the
// event's id ends a turn, and then it alone counts.
func TestAnsweredTurn(t *testing.T) {
	mine := `{"action":"modify","changes":{"args":{"a":1}},"id":"` + eventID + `"}`
	other := `{"action":"block","reason":"late","id":"before"}`
	for _, test := range []struct {
		name, out string
		answers   bool
		want      string
	}{
		{"mine", mine + "\n", true, "modify"},
		{"mine behind a late one", other + "\n" + mine + "\n", true, "modify"},
		{"mine behind text that a guard echoes", okBlock + "\n" + mine, true, "modify"},
		{"a late one", other + "\n", false, "[reply]"},
		{"one without id", okBlock + "\n", false, "[reply]"},
		{"half of mine", mine[:40], false, "[reply]"},
		{"block of mine", `{"action":"block","id":"` + eventID + `"}`, true, "block"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := Answers([]byte(test.out), eventID); got != test.answers {
				t.Errorf("Answers is %v, want %v", got, test.answers)
			}
			if got := verdict(read(protocol.ToolCallStart, protocol.CanModify, process{stdout: test.out, answered: true})); got != test.want {
				t.Errorf("read as %s, want %s", got, test.want)
			}
		})
	}
}

func TestReadReplyReadsMembers(t *testing.T) {
	r := read(protocol.StepStop, protocol.CanModify, process{stdout: `{"action":"callback","callback":{"name":"review","args":{"depth":"2"},"as":"state"},
		"context":"c","notice":"n","state":{"n":1e400},"metadata":null,"reason":"r\ud99c"}`})
	if r.Failure != nil {
		t.Fatal(r.Failure)
	}
	reply := r.Reply
	if reply.Callback.Name != "review" || reply.Callback.Args["depth"] != "2" || reply.Callback.As != protocol.AsState {
		t.Errorf("callback is %+v", reply.Callback)
	}
	if reply.Context != "c" || reply.Notice != "n" || string(reply.State) != `{"n":1e400}` || string(reply.Metadata) != "null" || reply.Reason != "r\ufffd" {
		t.Errorf("reply is %+v", reply)
	}
	for _, bad := range []string{`{}`, `{"name":""}`, `{"name":"x","args":{"n":2}}`, `{"name":"x","as":"text"}`, `"x"`} {
		r := read(protocol.StepStop, protocol.CanModify, process{stdout: `{"action":"callback","callback":` + bad + `}`})
		if verdict(r) != "[reply]" {
			t.Errorf("callback %s is read as %s", bad, verdict(r))
		}
	}
}

// Hostile output costs neither time nor words.
func TestReadReplyIsBounded(t *testing.T) {
	var members strings.Builder
	for i := range 14_000 {
		fmt.Fprintf(&members, `,"member-%050d":1`, i)
	}
	unknown := members.String()
	for name, out := range map[string]string{
		"unknown members of a block":  `{"action":"block"` + unknown + `}`,
		"unknown members of a reply":  `{"action":"observe"` + unknown + `}`,
		"unknown members alone":       `{"x":1` + unknown + `}`,
		"objects that never end":      strings.Repeat("{\"a\":[\n", 150_000),
		"lists that never end":        strings.Repeat("[[\n", 300_000),
		"strings that never end":      strings.Repeat("{\"\n", 300_000),
		"half objects behind a block": okObserve + "\n" + strings.Repeat("{\"a\":[\n", 150_000) + okBlock,
		"many notes":                  strings.Repeat("x\n", 500_000),
		"many objects":                strings.Repeat("{}\n", 300_000),
		"many objects on one line":    strings.Repeat("{}", 500_000),
		"a very long name":            `{"` + strings.Repeat("x", 1<<20-100) + `":1}`,
		"a very long action":          `{"action":"` + strings.Repeat("x", 1<<20-100) + `"}`,
		"a very long number":          `{"action":"observe","reason":` + strings.Repeat("1", 1<<20-100) + `}`,
	} {
		t.Run(name, func(t *testing.T) {
			begin := time.Now()
			r := read(protocol.ToolCallStart, protocol.CanModify, process{stdout: out})
			if took := time.Since(begin); took > 30*time.Second {
				t.Errorf("took %s", took)
			}
			words := len(strings.Join(r.Warnings, ""))
			if r.Failure != nil {
				words += len(r.Failure.Detail)
			}
			if words > 5000 {
				t.Errorf("%d bytes of words", words)
			}
			if name == "half objects behind a block" && verdict(r) == "observe" {
				t.Error("the broken part is taken for text")
			}
		})
	}
}
