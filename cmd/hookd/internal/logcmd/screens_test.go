package logcmd

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor/record"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/test/golden"
)

func TestMain(m *testing.M) {
	time.Local = time.UTC
	flag.Parse()
	os.Exit(m.Run())
}

// writeEvents records a set of hooks, a call that was changed and passed, one that was refused, a
// question that a person answered, and what an observer did later, on two days.
func writeEvents(t *testing.T, dir string) {
	log := record.Open(dir, 0, 0)
	at := time.Date(2026, 11, 28, 23, 59, 58, 123e6, time.UTC)
	guard, exit := "guard.sh", 2
	digest := func(value string) record.Digest {
		return record.Digest{Hash: "sha256:0123456789abcdef", Bytes: len(value), Value: protocol.RawMessage(value)}
	}
	before, after := digest(`"make all\nmake test"`), digest(`"make all\nmake check"`)
	fixed := protocol.Run{Hook: "fix.sh", Source: protocol.User, Class: protocol.CanModify, Mode: protocol.Enforce, Action: protocol.Modify, TookMs: 3.25, Changed: []string{"/args/command"}, Stderr: "make test is slow\n"}
	broken := protocol.Run{Hook: "lint.sh", Source: protocol.Project, Class: protocol.CanBlock, Mode: protocol.Enforce, Failure: protocol.FailExit, Detail: "exit code 1", Remedy: "a hook that has nothing to say ends with exit code 0", Rule: "continue", Exit: &exit, TookMs: 12,
		Warnings: []string{"it wrote a banner to stdout before its reply, and that was passed over; print it to stderr"}}
	refused := protocol.Run{Hook: guard, Source: protocol.User, Class: protocol.CanBlock, Mode: protocol.Enforce, Action: protocol.Block, Reason: "a person pushes here, and nobody else: ask in the channel of the release", ByExit: true, Exit: &exit, TookMs: 1.5}
	base := record.Event{Agent: "main", Host: "claude", Project: "/home/ann/shop", Set: "sha256:aa", Event: protocol.ToolCallStart, Tool: "bash", Changed: []record.Change{}, Runs: []protocol.Run{}}
	for i, entry := range []func(e *record.Event){
		func(e *record.Event) {
			e.ID, e.ToolCallID, e.Asked, e.Action, e.WaitedMs = "01M8K9KSBVQ8G83Y9HR0GV2Z1P", "toolu_01", "make all", protocol.Modify, 15.5
			e.Data, e.Runs = digest(`{"name":"bash","args":{"command":"make all\nmake test"}}`), []protocol.Run{fixed, broken}
			e.Changed = []record.Change{{Path: "/args/command", By: "fix.sh", Before: &before, After: &after}}
		},
		func(e *record.Event) {
			e.ID, e.Asked, e.Action, e.By, e.Reason = "01M8K9KSBVQ8G83Y9HR0GV2Z2Q", "git push --force origin main", protocol.Block, &guard, refused.Reason
			e.Data, e.Runs, e.WaitedMs = record.Digest{Hash: "sha256:0123456789abcdef", Bytes: 61}, []protocol.Run{refused}, 2
		},
		func(e *record.Event) {
			e.ID, e.Event, e.Action, e.By, e.Asked = "01M8K9KSBVQ8G83Y9HR0GV2Z3R", protocol.PermissionRequest, protocol.Observe, &guard, "rm -rf build"
			e.Answered = &protocol.Answered{By: protocol.ByPerson, Option: "allow", Text: "only the build"}
		},
	} {
		e := base
		entry(&e)
		set := func() *record.Set {
			return &record.Set{Set: e.Set, Project: e.Project, Hooks: []record.SetHook{{Name: "fix.sh", Status: "ready"}, {Name: guard, Status: "ready"}}}
		}
		if err := log.AppendUnder("alpha", at.Add(time.Duration(i)*time.Second), &e, e.Set, set); err != nil {
			t.Fatal(err)
		}
	}
	late := &record.Late{ID: "01M8K9KSBVQ8G83Y9HR0GV2Z2Q", Event: protocol.ToolCallStart, Set: "sha256:aa", Project: base.Project,
		Run: protocol.Run{Hook: "audit.sh", Source: protocol.User, Class: protocol.CanObserve, Mode: protocol.Enforce, Action: protocol.Observe, TookMs: 40}}
	if err := log.Append("alpha", at.Add(3*time.Second), late); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
}

// The timeline and the page of an event look as they should at the widths of usual
// terminals. The screens are below testdata: look at them after a change.
func TestScreens(t *testing.T) {
	testdata, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.Mkdir("records", 0o700); err != nil {
		t.Fatal(err)
	}
	writeEvents(t, "records")
	for _, width := range []int{80, 120} {
		for name, print := range map[string]func(cmd *Commands){
			"timeline": func(cmd *Commands) {
				cmd.logRecord("alpha", record.Read("records", "alpha"), filter{})
			},
			"changed":  func(cmd *Commands) { showOne(t, cmd, "gv2z1p") },
			"refused":  func(cmd *Commands) { showOne(t, cmd, "01M8K9KSBVQ8G83Y9HR0GV2Z2Q") },
			"answered": func(cmd *Commands) { showOne(t, cmd, "2Z3R") },
		} {
			var out, errs bytes.Buffer
			print(&Commands{Console: &cli.Console{Out: &show.Printer{W: &out, Width: width}, Err: &show.Printer{W: &errs}}})
			file := filepath.Join(testdata, fmt.Sprintf("%s-%d.txt", name, width))
			golden.Check(t, file, out.Bytes())
			if errs.Len() > 0 {
				t.Errorf("on stderr: %s", errs.Bytes())
			}
			for line := range bytes.Lines(out.Bytes()) {
				if n := show.Width(string(bytes.TrimSuffix(line, []byte("\n")))); n > width {
					t.Errorf("%d columns: %s", n, line)
				}
			}
		}
	}
}

func showOne(t *testing.T, cmd *Commands, id string) {
	t.Helper()
	lines, err := findEvent("records", []string{"alpha"}, id)
	if err != nil {
		t.Fatal(err)
	}
	(&page{p: cmd.Console.Out}).show(lines)
}
