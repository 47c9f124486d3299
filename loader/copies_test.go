//go:build unix

package loader

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/executor"
)

// A copy that was seen to be whole is not read again by the same process, and
// whatever happens to it since, deep inside, is seen all the same.
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
			time.Sleep(2 * settleTime) // so that stats are believed
			for range 2 {
				if got := status(); got != executor.Ready {
					t.Fatalf("it is %s", got)
				}
			}
			record := w.plan().Items[0]
			if !l.store.copies.same(l.store.folder(record.Hash), record.bundle) {
				t.Error("the copy was seen to be whole, and is read again")
			}
			if err := damage(l.store.folder(record.Hash)); err != nil {
				t.Fatal(err)
			}
			if got := status(); got != executor.Changed {
				t.Errorf("its copy is damaged, and it is %s", got)
			}
		})
	}
}

// Of many inputs a change of any one is found, though they are looked at side by
// side.
func TestManyInputsChanged(t *testing.T) {
	dir := t.TempDir()
	in := inputs{}
	var last string
	for i := range fewInputs + 1 {
		last = filepath.Join(dir, time.Duration(i).String())
		if err := os.WriteFile(last, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		in.see(last)
	}
	if in.changed() {
		t.Error("nothing changed")
	}
	if err := os.Remove(last); err != nil {
		t.Fatal(err)
	}
	if !in.changed() {
		t.Error("a file is gone and was not missed")
	}
}
