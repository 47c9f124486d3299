//go:build !concurrent

// These tests only compute: test/progress/goroutines.go says who runs them.

package record

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A very long line, of ours or planted, slows no later process: ours is shortened,
// and of another nothing beyond a bound is read.
func TestLongLines(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "records")
	log := Open(dir, 0, 0)
	long := event("long")
	long.Reason = strings.Repeat("x", 30<<20)
	for range 10_000 {
		long.Changed = append(long.Changed, Change{Path: "/args/" + strings.Repeat("p", 500)})
	}
	if err := log.Append("s", at, long); err != nil {
		t.Fatal(err)
	}
	appendEvents(t, log, "s", "a")
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if got, problems := ids(dir, "s"); !slices.Equal(got, []string{"long", "a"}) || problems != nil {
		t.Errorf("read %v, %v", got, problems)
	}
	info, err := os.Stat(path(dir, "s"))
	if err != nil || info.Size() > maxWritten {
		t.Errorf("the record has %d bytes, %v", info.Size(), err)
	}
	for _, foreign := range []struct {
		name, planted string
		problems      int // that Verify lists at most; 0: to read it all would take minutes here
	}{
		{"one line", strings.Repeat("y", 6*maxLine) + "\n", 2},
		{"many lines", strings.Repeat("y\n", 100_000), maxProblems + 1},
		{"a flood of lines", strings.Repeat("y\n", 3*maxLine), 0},
	} {
		t.Run(foreign.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "records")
			log := Open(dir, 0, 0)
			appendEvents(t, log, "s", "a")
			log.Close()
			f, err := os.OpenFile(path(dir, "s"), os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				t.Fatal(err)
			}
			f.WriteString(foreign.planted)
			f.Close()
			before := bytesRead(t)
			log = Open(dir, 0, 0)
			appendEvents(t, log, "s", "b")
			log.Close()
			log = Open(dir, 0, 0)
			appendEvents(t, log, "s", "c")
			log.Close()
			if read := bytesRead(t) - before; read > 2*maxLine+1<<20 {
				t.Errorf("two processes read %d bytes", read)
			}
			if foreign.problems == 0 {
				return
			}
			problems := Verify(dir, "s")
			if len(problems) == 0 || len(problems) > foreign.problems {
				t.Errorf("%d problems, the most is %d", len(problems), foreign.problems)
			}
			var events []string
			for line := range Read(dir, "s") {
				if line == nil || line.Kind != KindEvent {
					continue
				}
				var e Event
				if err := line.Decode(&e); err != nil {
					t.Fatal(err)
				}
				events = append(events, e.ID)
			}
			if !slices.Equal(events, []string{"a", "b", "c"}) {
				t.Errorf("read %v", events)
			}
		})
	}
}
