//go:build unix

package integration

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/protocol"
)

// H12: at every event a hook that reads to the end gets to the end: one JSON
// document of that event, a newline, and nothing more.
func TestStdinEndsAtEveryEvent(t *testing.T) {
	for i := range protocol.Table {
		name := string(protocol.Table[i].Name)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			path := filepath.Join(b.home, ".acai", "hooks", "read.sh")
			script := "#!/bin/sh\n# hook: events=" + name + " can=modify timeout=20s\ncat >\"$HOOK_PROJECT_DIR/read.tmp\" && mv \"$HOOK_PROJECT_DIR/read.tmp\" \"$HOOK_PROJECT_DIR/read\"\n"
			if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			if out, err := b.command("fire", name).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("took %v", took)
			}
			stdin, err := os.ReadFile(filepath.Join(b.project, "read"))
			if err != nil {
				t.Fatal(err)
			}
			line, rest, ended := bytes.Cut(stdin, []byte("\n"))
			var event struct{ Event string }
			if err := json.Unmarshal(line, &event); err != nil || event.Event != name || !ended || len(rest) > 0 {
				t.Errorf("%v, event %q, %d bytes behind the line: %.200q", err, event.Event, len(rest), stdin)
			}
			if left := aliveAfter(b.folder, time.Second); len(left) > 0 {
				t.Errorf("still alive: %s", strings.Join(left, "; "))
			}
		})
	}
}

// H24: what a hook writes to stderr is kept as a bounded tail that says so.
func TestStderrIsATail(t *testing.T) {
	b := newBox(t)
	b.install(t, "loud.sh", hookFile{limit: 20 * time.Second, body: "#!/bin/sh\nHEADER\nhead -c 5000000 /dev/zero | tr '\\0' x >&2; echo 'the end' >&2; " + sayNo + "\n"}, "block")
	o, exit := b.fire(t)
	run := o.run("loud.sh")
	if run == nil || exit != 2 || run.Action != "block" {
		t.Fatalf("exit code %d, %+v", exit, run)
	}
	const tail = 64 << 10
	mark, _, _ := strings.Cut(run.Stderr, "\n")
	if !strings.HasPrefix(mark, "[") || !strings.HasSuffix(mark, " bytes cut]") || !strings.HasSuffix(run.Stderr, "xthe end\n") || len(run.Stderr) > tail+len(mark)+1 {
		t.Errorf("%d bytes of stderr, from %.40q to %.40q", len(run.Stderr), run.Stderr, run.Stderr[max(0, len(run.Stderr)-40):])
	}
}
