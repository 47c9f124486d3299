//go:build unix

package loader

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/test/prove"
)

// large makes a file of holes, with a beginning.
func (w *world) large(path, begin string, size int64) {
	w.t.Helper()
	w.write(path, begin, 0o755)
	if err := os.Truncate(path, size); err != nil {
		w.t.Fatal(err)
	}
}

// No event waits for the hashing of what nobody allowed: hooks, their helpers,
// programs of commands, skills. Its guards refuse all the same, and anyone who looks
// at it gets every hash.
func TestUnallowedFilesAreNotHashed(t *testing.T) {
	w := newWorld(t)
	const size = 200 << 20
	for i := range 4 {
		w.large(w.hookPath(fmt.Sprintf("guard%d.sh", i)), "#!/bin/sh\n# hook: events=tool-call-start can=block\nexit 0\n", size)
		w.large(w.path(".acai", "hooks", "data", fmt.Sprintf("d%d", i)), "", size)
		w.large(w.path("tools", fmt.Sprintf("t%d", i)), "#!/bin/sh\n", size)
	}
	w.hook("helped.sh", "#!/bin/sh\n# hook: events=tool-call-start can=block files=data/*\nexit 0\n")
	w.write(w.path(".acai", "skills", "s", "SKILL.md"), "---\nname: s\ndescription: x\n---\n", 0o644)
	w.large(w.path(".acai", "skills", "s", "big"), "", size)
	w.settings(`{"hooks":{"use":[{"name":"c","command":["./tools/t0","./tools/t1","./tools/t2"],"events":["tool-call-start"],"can":"block"}]}}`)
	began := time.Now()
	s := w.load()
	took := time.Since(began)
	if took > 2*time.Second {
		t.Errorf("the load took %s", took)
	}
	for _, name := range []string{"guard0.sh", "guard3.sh", "helped.sh", "c"} {
		if got := status(s, name); got != "untrusted!untrusted" {
			t.Errorf("%s is %q", name, got)
		}
	}
	if o := w.fire(s.Set); o.Action != protocol.Block {
		t.Errorf("the event passes: %s", o.Action)
	}
	prove.Figure(t, "G1", "%d files of %d MiB that nobody allowed: loaded in %s", 13, size>>20, took.Round(time.Millisecond))
}

// A load ends when its event does, also in the middle of a file.
func TestLoadEndsWithItsEvent(t *testing.T) {
	w := newWorld(t)
	w.userSettings(`{"hooks":{"trust":{"always":["` + w.project + `"]}}}`)
	for i := range 6 {
		w.large(w.hookPath(fmt.Sprintf("h%d.sh", i)), "#!/bin/sh\n# hook: events=tool-call-start can=block\nexit 0\n", 250<<20)
	}
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(100*time.Millisecond, func() { cancel(enough) })
	began := time.Now()
	_, err := Load(ctx, w.options())
	if took := time.Since(began); took > time.Second {
		t.Errorf("it ended after %s", took)
	}
	if !errors.Is(err, enough) {
		t.Errorf("it ended with %v", err)
	}
}

// A large hook is hashed when it is allowed and whenever it runs.
func TestLargeHookIsHashedOnceAllowed(t *testing.T) {
	w := newWorld(t)
	begin := "#!/bin/sh\n# hook: events=tool-call-start can=block\nexit 0\n"
	w.large(w.hookPath("g.sh"), begin, 1<<20)
	w.allow()
	if got := status(w.load(), "g.sh"); got != string(executor.Ready) {
		t.Fatalf("it is %q", got)
	}
	f, err := os.OpenFile(filepath.Join(w.project, ".acai", "hooks", "g.sh"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteAt([]byte("x"), 900<<10)
	f.Close()
	if got := status(w.load(), "g.sh"); got != "changed!untrusted" {
		t.Errorf("changed far behind its beginning it is %q", got)
	}
}
