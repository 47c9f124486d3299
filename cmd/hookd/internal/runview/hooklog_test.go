package runview

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/protocol"
)

// TestWhatHooksDidIsOneQuietLine asserts that a turn ends with one line of what hooks did, that
// the line opens to who, what, why and when, and that a block has its own line all the same.
func TestWhatHooksDidIsOneQuietLine(t *testing.T) {
	var out bytes.Buffer
	v := NewTextPrinter(&show.Printer{W: &out}, Options{Folded: true})
	ran := func(hooks ...string) (runs []protocol.Run) {
		for _, hook := range hooks {
			runs = append(runs, protocol.Run{Hook: hook, Source: protocol.User, TookMs: 12})
		}
		return append(runs, protocol.Run{Hook: "steps", Source: protocol.Builtin}, protocol.Run{Hook: "off.sh", Source: protocol.User, Skipped: "decided"})
	}
	flag, guard := "flag.sh", "guard.sh"
	changed := protocol.Outcome{
		Event: protocol.Event{Event: protocol.ToolCallStart}, Action: protocol.Modify, By: &flag, Runs: ran(flag, guard),
		Changes: []protocol.Change{{Path: "/args/command", By: flag, Before: []byte(`"ls"`), After: []byte(`"ls -la"`)}, {Path: "/args/timeout", By: flag}},
	}
	blocked := protocol.Outcome{Action: protocol.Block, By: &guard, Reason: "too dangerous\x1b[2J", Runs: ran(guard)}
	told := protocol.Outcome{Context: []protocol.HookText{{Hook: "ctx.sh", Text: "on main\n3 files changed"}}, Notices: []protocol.HookText{{Hook: "ctx.sh", Text: "1\n2\n3\n4\n5\n6"}}, Runs: ran("ctx.sh")}
	for _, y := range []agentloop.Update{
		eventYield(t, protocol.PromptSubmit, protocol.PromptSubmitData{Prompt: "go"}, told),
		eventYield(t, protocol.ToolCallStart, protocol.ToolCallStartData{Call: callOfBash("c1", "ls -la")}, changed),
		eventYield(t, protocol.ToolCallEnd, protocol.ToolCallEndData{Call: callOfBash("c1", "ls -la"), Result: protocol.Result{Content: protocol.TextContent("one")}}, protocol.Outcome{Runs: ran(guard)}),
		eventYield(t, protocol.ToolCallStart, protocol.ToolCallStartData{Call: callOfBash("c2", "rm x")}, blocked),
		eventYield(t, protocol.ToolCallError, protocol.ToolCallErrorData{Call: callOfBash("c2", "rm x"), Error: protocol.CallError{Kind: protocol.CallBlocked, Text: "too dangerous"}, BlockedBy: &guard}, protocol.Outcome{}),
	} {
		if err := v.Print(y); err != nil {
			t.Fatal(err)
		}
	}
	v.End(agentloop.Result{StopReason: "done"})
	lines, tally, _ := strings.Cut(out.String(), "0 steps")
	want := `› go
    ctx.sh tells the model: on main 3 files changed  #1
    · ctx.sh: 1
      │ 2
      │ 3
      │ 4
      │ … 2 more lines
✓ bash ls -la · one, 0.0ms  #2
    flag.sh changed args.command, flag.sh changed args.timeout
✗ bash rm x · not run  #3
    ✗ blocked by guard.sh: too dangerous\x1b[2J
hooks: 5 asked, 1 added context (ctx.sh), 1 told you something (ctx.sh), 1 changed args (flag.sh), 1 blocked (guard.sh)  #4
`
	if diff := cmp.Diff(want, lines); diff != "" || tally == "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	at := time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC).Local().Format("15:04:05")
	opened := `#4 hooks: 5 asked, 1 added context (ctx.sh), 1 told you something (ctx.sh), 1 changed args (flag.sh), 1 blocked (guard.sh)
  ` + at + ` prompt-submit
    + ctx.sh tells the model:
      │ on main
      │ 3 files changed
    · ctx.sh: 1
      │ 2
      │ 3
      │ 4
      │ 5
      │ 6
    asked: ctx.sh 12ms
  ` + at + ` tool-call-start bash ls -la
    flag.sh changed args.command
      -ls
      +ls -la
    flag.sh changed args.timeout
    asked: flag.sh 12ms, guard.sh 12ms
  ` + at + ` tool-call-start bash rm x
    ✗ blocked by guard.sh: too dangerous\x1b[2J
    asked: guard.sh 12ms`
	if diff := cmp.Diff(opened, last(v.Detail(0))); diff != "" {
		t.Errorf("opened (-want +got):\n%s", diff)
	}
	out.Reset()
	v.Begin(time.Now())
	if err := v.Print(eventYield(t, protocol.PromptSubmit, protocol.PromptSubmitData{Prompt: "go"}, protocol.Outcome{Runs: ran(guard)})); err != nil {
		t.Fatal(err)
	}
	v.End(agentloop.Result{StopReason: "done"})
	if strings.Contains(out.String(), "hooks:") {
		t.Errorf("hooks that only looked have a line:\n%s", out.String())
	}
}

func last(body string, _ int) string { return body }
