//go:build unix

package loader

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/loader/internal/files"
)

// Whatever happens to a copy after it was seen to be whole, deep inside, is seen by
// the same process.
func TestCopyIsWatchedAfterItWasSeen(t *testing.T) {
	for name, damage := range map[string]func(folder string) error{
		"a helper is written to": func(folder string) error {
			return os.WriteFile(filepath.Join(folder, "lib", "deep", "a.txt"), []byte("B"), 0o644)
		},
		"a file is put beside it": func(folder string) error {
			return os.WriteFile(filepath.Join(folder, "lib", "deep", "b.txt"), []byte("b"), 0o644)
		},
		"a helper is taken out": func(folder string) error { return os.Remove(filepath.Join(folder, "lib", "deep", "a.txt")) },
		"a folder lets others write": func(folder string) error {
			return os.Chmod(filepath.Join(folder, "lib"), 0o777)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.hook("guard.sh", "#!/bin/sh\n# hook: events=tool-call-start can=block files=lib/**\n")
			w.write(w.hookPath("lib/deep/a.txt"), "a", 0o644)
			w.allow()
			l, err := newLoader(w.options())
			if err != nil {
				t.Fatal(err)
			}
			status := func() executor.Status {
				s, err := l.snapshot(context.Background(), 1)
				if err != nil {
					t.Fatal(err)
				}
				return find(s, "guard.sh").Status
			}
			time.Sleep(2 * files.StableAfter) // so that stats are believed
			for range 2 {
				if got := status(); got != executor.Ready {
					t.Fatalf("it is %s", got)
				}
			}
			if err := damage(l.store.Folder(w.plan().Items[0].Now.Hash)); err != nil {
				t.Fatal(err)
			}
			if got := status(); got != executor.Changed {
				t.Errorf("its copy is damaged, and it is %s", got)
			}
		})
	}
}
