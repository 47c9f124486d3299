//go:build unix

package loader

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/protocol"
)

// Trying a file runs that file and no other, wherever it lies and whatever was
// allowed, by what header, side file and its own layer's settings say of it.
func TestSingle(t *testing.T) {
	type want struct {
		Status string
		Can    protocol.Class
		Events []protocol.EventName
		Action protocol.Action
	}
	guard := want{"ready", protocol.CanBlock, []protocol.EventName{protocol.ToolCallStart}, protocol.Block}
	const answer = "echo '{\"action\":\"block\",\"reason\":\"no\"}'\n"
	for name, test := range map[string]struct {
		file string // below the project
		text string
		side string
		also func(w *world)
		want want
	}{
		"by its header, nobody allowed it": {file: ".acai/hooks/h", text: blocks, want: guard},
		"by its side file":                 {file: ".acai/hooks/h", text: "#!/bin/sh\n" + answer, side: `{"events":["tool-call-start"],"can":"block"}`, want: guard},
		"by the settings": {
			file: ".acai/hooks/h", text: "#!/bin/sh\n" + answer,
			also: func(w *world) {
				w.settings(`{"hooks":{"use":[{"name":"h","events":["tool-call-start"],"can":"block"}]}}`)
			},
			want: guard,
		},
		"outside of any hooks folder": {file: "drafts/h", text: blocks, want: guard},
		"denied":                      {file: ".acai/hooks/h", text: blocks, also: func(w *world) { w.trust().Deny(context.Background(), "h") }, want: guard},
		"beside another that would refuse": {
			file: ".acai/hooks/h", text: "#!/bin/sh\n# hook: events=tool-call-start can=block\n",
			also: func(w *world) { w.hook("other", blocks) },
			want: want{"ready", protocol.CanBlock, guard.Events, protocol.Observe},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write(w.path(test.file), test.text, 0o755)
			if test.side != "" {
				w.write(w.path(test.file)+".hook.json", test.side, 0o644)
			}
			if test.also != nil {
				test.also(w)
			}
			s, err := Single(context.Background(), w.options(), w.path(test.file))
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Hooks) != 1 {
				t.Fatalf("%d hooks in the set", len(s.Hooks))
			}
			h := s.Hooks[0]
			got := want{status(s, "h"), h.Can, h.Events, w.fire(s.Set).Action}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestSingleNamesWhatIsNoHook(t *testing.T) {
	w := newWorld(t)
	if err := os.Mkdir(w.hookPath("lib"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Single(context.Background(), w.options(), w.hookPath("lib")); err == nil {
		t.Error("a folder was taken for a hook")
	}
	w.write(filepath.Join(w.project, "plain"), blocks, 0o644)
	s, err := Single(context.Background(), w.options(), w.path("plain"))
	if err != nil {
		t.Fatal(err)
	}
	if got := status(s, "plain"); got != "broken!spawn" {
		t.Errorf("a file that is not executable is %q", got)
	}
}
