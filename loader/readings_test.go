//go:build unix

package loader

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// remember writes readings as a process would that came long after the last
// change, and returns their file. Each of lies replaces what was read of a path.
func (w *world) remember(lies map[string]*content) string {
	w.t.Helper()
	l, err := newLoader(w.options())
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := l.snapshot(context.Background(), 1); err != nil {
		w.t.Fatal(err)
	}
	later := time.Now().Add(time.Hour)
	for path, known := range l.files.byPath {
		l.files.before.note(path, known.content, later)
	}
	for path, lie := range lies {
		l.files.before.note(path, lie, later)
	}
	l.files.save()
	return l.files.before.file
}

// lie is a reading that says of a file, as it is now, what another text holds.
func (w *world) lie(path, text string) map[string]*content {
	w.t.Helper()
	other := filepath.Join(w.t.TempDir(), "other")
	w.write(other, text, 0o755)
	c, err := readContent(other, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	if c.stat, err = stat(path); err != nil {
		w.t.Fatal(err)
	}
	return map[string]*content{path: c}
}

// What earlier processes read is used, and changes nothing of what is found.
func TestReadingsSayTheSame(t *testing.T) {
	w := newWorld(t)
	w.hook("guard.sh", blocks)
	w.hook("new.sh", observes)
	w.hook("broken.sh", "no interpreter line")
	w.userHook("mine.sh", blocks)
	w.allow("guard.sh")
	cold := w.load()
	file := w.remember(nil)
	if st, err := stat(file); err != nil || st.Mode.Perm() != 0o600 {
		t.Fatalf("readings: %v, mode %o", err, st.Mode.Perm())
	}
	known, err := readReadings(file)
	for _, path := range []string{w.hookPath("guard.sh"), w.hookPath("broken.sh"), filepath.Join(w.home, ".acai", "hooks", "mine.sh")} {
		if _, ok := known.files[path]; !ok {
			t.Errorf("nothing is kept of %s (%v)", path, err)
		}
	}
	if warm := w.load(); !warm.same(cold) {
		t.Errorf("found %v, without readings %v", warm.Findings, cold.Findings)
	}
	// They are really asked: one that lies is believed of what does not run.
	w.remember(w.lie(w.hookPath("new.sh"), "#!/bin/sh\n# hook: events=tool-call-end can=observe priority=7\n"))
	if h := find(w.load(), "new.sh"); h.Priority != 7 {
		t.Error("the readings were not asked")
	}
}

// A reading that lies lets nothing run but what was allowed.
func TestReadingsThatLieLetNothingRun(t *testing.T) {
	evil := strings.Replace(blocks, "no", "evil", 1)
	t.Run("a copy runs", func(t *testing.T) {
		w := newWorld(t)
		w.hook("guard.sh", blocks)
		w.allow()
		w.hook("guard.sh", evil)
		if got := status(w.load(), "guard.sh"); got != "changed!untrusted" {
			t.Fatal(got)
		}
		w.remember(w.lie(w.hookPath("guard.sh"), blocks))
		h := find(w.load(), "guard.sh")
		if text, err := os.ReadFile(h.Runs); err != nil || string(text) != blocks || !strings.HasPrefix(h.Runs, w.state) {
			t.Errorf("%s runs %q (%v)", h.Runs, text, err)
		}
	})
	t.Run("in place", func(t *testing.T) {
		w := newWorld(t)
		text := strings.Replace(blocks, "can=block", "can=block inPlace=true", 1)
		w.hook("guard.sh", text)
		w.allow()
		w.hook("guard.sh", strings.Replace(text, "no", "evil", 1))
		w.remember(w.lie(w.hookPath("guard.sh"), text))
		if s := w.load(); status(s, "guard.sh") != "changed!untrusted" || find(s, "guard.sh").Runs != "" {
			t.Error(status(s, "guard.sh"), find(s, "guard.sh").Runs)
		}
	})
	t.Run("the copy itself", func(t *testing.T) {
		w := newWorld(t)
		w.hook("guard.sh", blocks)
		w.allow()
		copied := find(w.load(), "guard.sh").Runs
		w.write(copied, evil, 0o755)
		w.remember(w.lie(copied, blocks))
		if s := w.load(); status(s, "guard.sh") != "changed!untrusted" || !hasFinding(s.Findings, CodeTampered, "guard.sh") {
			t.Error(status(s, "guard.sh"))
		}
	})
	t.Run("allowed by hash", func(t *testing.T) {
		w := newWorld(t)
		w.userHook("mine.sh", blocks)
		hash := find(w.load(), "mine.sh").Hash
		w.write(filepath.Join(w.managed, "acai.json"), fmt.Sprintf(`{"hooks":{"allow":["managed","hashes"],"trust":{"hashes":[%q]}}}`, hash), 0o644)
		if got := status(w.load(), "mine.sh"); got != "ready" {
			t.Fatal(got)
		}
		w.userHook("mine.sh", evil)
		w.remember(w.lie(filepath.Join(w.home, ".acai", "hooks", "mine.sh"), blocks))
		if got := status(w.load(), "mine.sh"); got != "disabled" {
			t.Error(got)
		}
	})
	t.Run("managed", func(t *testing.T) {
		w := newWorld(t)
		path := filepath.Join(w.managed, "hooks", "guard.sh")
		w.write(path, blocks, 0o755)
		w.remember(w.lie(path, "#!/bin/sh\n# hook: events=tool-call-end can=observe\n"))
		if h := find(w.load(), "guard.sh"); h.Can != "block" {
			t.Error("the user said what the machine's guard is for")
		}
	})
}

// Readings that are damaged, open to others or no file at all are as none.
func TestDamagedReadingsAreAsNone(t *testing.T) {
	w := newWorld(t)
	w.hook("guard.sh", blocks)
	w.allow()
	want := w.load()
	file := w.remember(nil)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	write := func(data string) func() error {
		return func() error { return os.WriteFile(file, []byte(data), 0o600) }
	}
	damages := map[string]func() error{
		"empty":         write(""),
		"cut":           write(string(whole[:len(whole)-1])),
		"another":       write(strings.Replace(string(whole), " 2 ", " 1 ", 1)),
		"one bit":       write(string(whole[:len(whole)-3]) + string(whole[len(whole)-3]^1) + string(whole[len(whole)-2:])),
		"garbage":       write("\x00\xff\n{"),
		"open":          func() error { return os.Chmod(file, 0o644) },
		"link":          func() error { os.Remove(file); return os.Symlink("/dev/zero", file) },
		"fifo":          func() error { os.Remove(file); return unix.Mkfifo(file, 0o600) },
		"folder":        func() error { os.Remove(file); return os.Mkdir(file, 0o700) },
		"folder closed": func() error { return os.Chmod(filepath.Dir(file), 0o755) },
	}
	for name, damage := range damages {
		os.RemoveAll(file)
		if err := errors.Join(write(string(whole))(), os.Chmod(file, 0o600), damage()); err != nil {
			t.Fatal(name, err)
		}
		if name != "folder closed" {
			if known, err := readReadings(file); err == nil {
				t.Errorf("%s: %d readings are believed", name, len(known.files))
			}
		}
		begin := time.Now()
		if got := w.load(); !got.same(want) {
			t.Errorf("%s: another set is found", name)
		}
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("%s: a load took %s", name, took)
		}
	}
}

// A file that changed just before it was read is not kept: its stat may stay the
// same while it goes on changing.
func TestRacyReadingsAreNotKept(t *testing.T) {
	w := newWorld(t)
	w.hook("guard.sh", blocks)
	w.load()
	l, err := newLoader(w.options())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(l.files.before.file); err == nil {
		t.Error("a file younger than the rest time was kept")
	}
	c, err := readContent(w.hookPath("guard.sh"), nil)
	if err != nil {
		t.Fatal(err)
	}
	changed := time.Unix(0, max(c.stat.Mtime, c.stat.Ctime))
	for after, kept := range map[time.Duration]bool{0: false, restTime: false, restTime + time.Nanosecond: true, -time.Hour: false} {
		r := newReadings(w.state, w.project)
		r.note("x", c, changed.Add(after))
		if r.news != kept {
			t.Errorf("read %s after the change: kept %v", after, r.news)
		}
	}
}

// Processes that write at the same time leave a file that can be read, and
// nothing beside it; old files make room.
func TestReadingsOfSeveralWriters(t *testing.T) {
	w := newWorld(t)
	w.hook("guard.sh", blocks)
	file := w.remember(nil)
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for range 20 {
				c := newContentCache()
				c.before = newReadings(w.state, w.project)
				c.before.note("x", &content{}, time.Now())
				c.save()
				if _, err := readReadings(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	for i := range maxReadingFiles {
		w.write(filepath.Join(filepath.Dir(file), fmt.Sprint(i)), "", 0o600)
	}
	w.remember(nil)
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil || len(entries) > maxReadingFiles {
		t.Errorf("%d files are kept (%v)", len(entries), err)
	}
	if _, err := readReadings(file); err != nil {
		t.Error(err)
	}
}
