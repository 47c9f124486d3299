//go:build !concurrent

// These tests only compute: test/progress/goroutines.go says who runs them.

package record

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// forwards and backwards return what both ways of reading find in a record, in the order
// of the record: numbers of lines, and problems without the place in a file.
func forwards(dir, session string) (lines, problems []string) {
	for line, problem := range Read(dir, session) {
		lines, problems = noteRead(lines, problems, line, problem)
	}
	return lines, problems
}

func backwards(dir, session string) (lines, problems []string) {
	for line, problem := range Backwards(dir, session) {
		lines, problems = noteRead(lines, problems, line, problem)
	}
	slices.Reverse(lines)
	slices.Reverse(problems)
	return lines, problems
}

func noteRead(lines, problems []string, line *Line, problem *Problem) (l, p []string) {
	if line != nil {
		lines = append(lines, fmt.Sprint(line.N, line.Hash, line.Kind, string(line.Raw)))
	}
	if problem != nil {
		problems = append(problems, fmt.Sprint(problem.Crash, problem.What))
	}
	return lines, problems
}

// Read from its end, a record has the same lines and the same problems, whatever was done
// to it: in one file and in several, with lines longer than what is read at a time.
func TestBackwardsIsReadTheOtherWayRound(t *testing.T) {
	write := func(t *testing.T, segment int64) string {
		dir := t.TempDir()
		log := Open(dir, 0, segment)
		for i := range 40 {
			e := event(fmt.Sprint("e", i))
			e.Reason = strings.Repeat("x", (i%7)*(i%7)*5000)
			if err := log.Append("s", time.Unix(int64(i), 0), e); err != nil {
				t.Fatal(err)
			}
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	change := func(edit func(lines [][]byte) [][]byte) func(*testing.T, string) {
		return func(t *testing.T, file string) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			lines := bytes.SplitAfter(text, []byte("\n"))
			if err := os.WriteFile(file, bytes.Join(edit(lines), nil), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, damage := range map[string]func(*testing.T, string){
		"whole": func(*testing.T, string) {},
		"a line changed": change(func(l [][]byte) [][]byte {
			l[5] = bytes.Replace(l[5], []byte(`"id":"e`), []byte(`"id":"f`), 1)
			return l
		}),
		"a line removed": change(func(l [][]byte) [][]byte { return slices.Delete(l, 5, 6) }),
		"a line broken":  change(func(l [][]byte) [][]byte { l[5] = []byte("no line\n"); return l }),
		"the tail cut": change(func(l [][]byte) [][]byte {
			l = l[:len(l)-1]
			last := l[len(l)-1]
			l[len(l)-1] = last[:len(last)/2]
			return l
		}),
		"the first gone": change(func(l [][]byte) [][]byte { return l[1:] }),
	} {
		for _, segment := range []int64{0, 400 << 10} {
			t.Run(fmt.Sprint(name, "/", segment), func(t *testing.T) {
				dir := write(t, segment)
				if parts := len(segments(dir, "s")); (parts > 0) != (segment > 0) {
					t.Fatalf("%d earlier parts", parts)
				}
				damage(t, path(dir, "s"))
				lines, problems := forwards(dir, "s")
				linesBack, problemsBack := backwards(dir, "s")
				if !slices.Equal(lines, linesBack) {
					t.Errorf("%d lines forwards, %d backwards", len(lines), len(linesBack))
				}
				if !slices.Equal(problems, problemsBack) {
					t.Errorf("problems forwards %q\nbackwards %q", problems, problemsBack)
				}
				if name != "whole" && len(problems) == 0 {
					t.Error("nothing was damaged")
				}
			})
		}
	}
}

// The newest lines of a large record are read without the rest: a file of a gigabyte costs
// no more than its end.
func TestBackwardsReadsNoMoreThanIsTaken(t *testing.T) {
	r := &countingReader{size: 1 << 30}
	back := backReader{f: r, begin: r.size}
	for range 100 {
		if _, _, err := back.line(); err != nil {
			t.Fatal(err)
		}
	}
	if r.read > 4*backBlock {
		t.Errorf("%d bytes were read for 100 lines of 100 bytes", r.read)
	}
}

// countingReader is a file of lines of 100 bytes.
type countingReader struct{ size, read int64 }

func (r *countingReader) ReadAt(p []byte, at int64) (int, error) {
	r.read += int64(len(p))
	for i := range p {
		p[i] = 'x'
		if (at+int64(i))%100 == 99 || at+int64(i) == r.size-1 {
			p[i] = '\n'
		}
	}
	return len(p), nil
}

// Search yields what is wanted, of all files of a record, and passes over lines that are
// none.
func TestSearchFindsLinesOfAKind(t *testing.T) {
	dir := t.TempDir()
	log := Open(dir, 0, 1<<20)
	for i := range 30 {
		set := fmt.Sprint("set", i/10)
		e := event(fmt.Sprint("e", i))
		e.Reason, e.Set = strings.Repeat("x", 20_000), set
		if err := log.AppendUnder("s", at, e, set, func() *Set { return &Set{Set: set, Project: "/p" + set} }); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if len(segments(dir, "s")) == 0 {
		t.Fatal("there is one file only")
	}
	var projects []string
	for line := range Search(dir, "s", OfKind(KindSet)) {
		var s Set
		if err := line.Decode(&s); err != nil {
			t.Fatal(err)
		}
		projects = append(projects, s.Project)
	}
	if want := []string{"/pset0", "/pset1", "/pset2"}; !slices.Equal(projects, want) {
		t.Errorf("%q, want %q", projects, want)
	}
	found := 0
	for line := range Search(dir, "s", func(text []byte) bool { return bytes.Contains(text, []byte(`"id":"e17"`)) }) {
		found++
		if line.Kind != KindEvent {
			t.Errorf("a line of kind %s", line.Kind)
		}
	}
	if found != 1 {
		t.Errorf("found %d times", found)
	}
}
