package loader

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// One script in several places is named with all of them: a copy, a link, a second
// name, an entry with a command. What differs in its arguments or events is not.
func TestDuplicates(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	guard := write("guard.sh", "#!/bin/sh\n# hook: events=tool-call-start\n")
	twin := write("copy.sh", "#!/bin/sh\n# hook: events=tool-call-start\n")
	link := filepath.Join(dir, "link.sh")
	if err := os.Symlink(guard, link); err != nil {
		t.Fatal(err)
	}
	other := write("other.sh", "#!/bin/sh\n# hook: events=tool-call-start can=block\n")
	hook := func(name, path string, layer protocol.Layer, event protocol.EventName, command ...string) Info {
		return Info{Hook: &executor.Hook{Status: executor.Ready, Hook: schema.Hook{
			Name: name, Path: path, Layer: layer, Command: command, Events: []protocol.EventName{event},
		}}}
	}
	const start, end = protocol.ToolCallStart, protocol.ToolCallEnd
	for name, tc := range map[string]struct {
		hooks []Info
		named []string // none: no finding
	}{
		"in two layers":        {[]Info{hook("guard.sh", guard, protocol.Project, start), hook("copy.sh", twin, protocol.User, start)}, []string{"guard.sh (project", "copy.sh (user"}},
		"a link":               {[]Info{hook("guard.sh", guard, protocol.Project, start), hook("link.sh", link, protocol.Project, start)}, []string{"link.sh (project"}},
		"a command":            {[]Info{hook("guard.sh", guard, protocol.Project, start), hook("entry", "", protocol.User, start, "sh", guard)}, []string{"entry (user"}},
		"a relative command":   {[]Info{hook("guard.sh", guard, protocol.Project, start), hook("entry", "", protocol.Project, start, "sh", "copy.sh")}, []string{"entry (project"}},
		"other content":        {[]Info{hook("guard.sh", guard, protocol.Project, start), hook("other.sh", other, protocol.Project, start)}, nil},
		"other events":         {[]Info{hook("guard.sh", guard, protocol.Project, start), hook("copy.sh", twin, protocol.Project, end)}, nil},
		"other arguments":      {[]Info{hook("a", guard, protocol.Project, start, guard, "-a"), hook("b", guard, protocol.Project, start, guard, "-b")}, nil},
		"a program on no path": {[]Info{hook("a", "", protocol.User, start, "true"), hook("b", "", protocol.User, start, "true")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			findings := Duplicates(&Snapshot{Project: dir, Hooks: tc.hooks})
			if len(tc.named) == 0 {
				if len(findings) > 0 {
					t.Errorf("%+v", findings)
				}
				return
			}
			if len(findings) != 1 || findings[0].Code != string(report.SameHook) {
				t.Fatalf("%+v", findings)
			}
			for _, name := range tc.named {
				if !strings.Contains(findings[0].Message, name) {
					t.Errorf("%s is not named: %s", name, findings[0].Message)
				}
			}
		})
	}
}
