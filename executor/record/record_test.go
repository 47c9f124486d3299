package record

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/executor/state"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/test/prove"
)

var at = time.Date(2026, 11, 27, 20, 54, 0, 123e6, time.UTC)

func event(id string) *Event {
	return &Event{
		ID: id, Event: protocol.ToolCallStart, Agent: "main", Host: "hookd", Generation: 7,
		Action: protocol.Block, Reason: "no", Changed: []Change{}, Runs: []protocol.Run{},
	}
}

func appendEvents(t *testing.T, log *Log, session string, ids ...string) {
	t.Helper()
	for _, id := range ids {
		if err := log.Append(session, at, event(id)); err != nil {
			t.Fatal(err)
		}
	}
}

// ids reads a record whole and returns its events' ids and its problems.
func ids(dir, session string) (out []string, problems []string) {
	for line, problem := range Read(dir, session) {
		if problem != nil {
			what, _, _ := strings.Cut(problem.What, ":")
			problems = append(problems, fmt.Sprintf("%d: %s", problem.Line, what))
		}
		if line == nil || line.Kind != KindEvent {
			continue
		}
		var e Event
		if err := line.Decode(&e); err != nil {
			problems = append(problems, err.Error())
		}
		out = append(out, e.ID)
	}
	return out, problems
}

func TestChain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "records")
	log := Open(dir, 0, 0)
	appendEvents(t, log, "s", "a", "b")
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	appendEvents(t, Open(dir, 0, 0), "s", "c") // another process finds the end by itself
	appendEvents(t, log, "s", "d")             // and we notice what it wrote
	got, problems := ids(dir, "s")
	if diff := cmp.Diff([]string{"a", "b", "c", "d"}, got); diff != "" || problems != nil {
		t.Error(diff, problems)
	}
	raw, _ := os.ReadFile(filepath.Join(dir, "s.jsonl"))
	first, _, _ := strings.Cut(string(raw), "\n")
	want := `{"v":1,"kind":"event","n":1,"prev":null,"time":"2026-11-27T20:54:00.123Z","session":"s","seq":null,"id":"a",`
	if !strings.HasPrefix(first, want) {
		t.Errorf("the first line begins otherwise:\n%s", first)
	}
	head, err := HeadOf(dir, "s")
	if err != nil || head.N != 4 || Verify(dir, "s", head) != nil {
		t.Errorf("head %+v, %v, %v", head, err, Verify(dir, "s", head))
	}
	if info, err := os.Stat(filepath.Join(dir, "s.jsonl")); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
}

func TestWithoutSession(t *testing.T) {
	dir := t.TempDir()
	log := Open(dir, 0, 0)
	appendEvents(t, log, "", "a")
	appendEvents(t, log, "2026-11-27", "b") // a session cannot take the day's file
	if got, _ := ids(dir, "2026-11-27"); !slices.Equal(got, []string{"a"}) {
		t.Errorf("the day's file holds %v", got)
	}
}

// G16: each edit, insertion or removal in the middle is found, and a cut tail
// and a rewritten chain against a head kept elsewhere.
func TestTampering(t *testing.T) {
	const lines = 6
	build := func() (dir string, text []string, head Head) {
		dir = t.TempDir()
		log := Open(dir, 0, 0)
		for i := range lines {
			appendEvents(t, log, "s", fmt.Sprint("e", i))
		}
		raw, _ := os.ReadFile(filepath.Join(dir, "s.jsonl"))
		head, _ = HeadOf(dir, "s")
		return dir, strings.SplitAfter(strings.TrimSuffix(string(raw), "\n"), "\n"), head
	}
	overwrite := func(dir string, text []string) {
		if err := os.WriteFile(filepath.Join(dir, "s.jsonl"), []byte(strings.Join(text, "")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	changes := 0
	for i := range lines - 1 {
		for name, change := range map[string]func([]string) []string{
			"edit":     func(l []string) []string { l[i] = strings.Replace(l[i], `"no"`, `"on"`, 1); return l },
			"spoil":    func(l []string) []string { l[i] = "garbage\n"; return l },
			"insert":   func(l []string) []string { return slices.Insert(l, i+1, l[i]) },
			"blank":    func(l []string) []string { return slices.Insert(l, i+1, "\n") },
			"remove":   func(l []string) []string { return slices.Delete(l, i, i+1) },
			"exchange": func(l []string) []string { l[i], l[i+1] = l[i+1], l[i]; return l },
			"renumber": func(l []string) []string { l[i] = strings.Replace(l[i], `"n":`, `"n":1`, 1); return l },
			"join":     func(l []string) []string { l[i] = strings.TrimSuffix(l[i], "\n"); return l },
			"torn mark": func(l []string) []string {
				l[i+1] = strings.Replace(l[i+1], `"time"`, `"torn":true,"time"`, 1)
				l[i] = "x\n"
				return l
			},
		} {
			changes++
			dir, text, _ := build()
			overwrite(dir, change(text))
			if Verify(dir, "s") == nil {
				t.Errorf("%s at line %d was not found", name, i+1)
			}
		}
	}
	dir, text, head := build()
	overwrite(dir, text[:lines-1])
	if Verify(dir, "s") != nil {
		t.Error("a cut tail shows without a head; then this test is out of date")
	}
	if Verify(dir, "s", head) == nil {
		t.Error("a cut tail was not found against the head")
	}
	os.Remove(filepath.Join(dir, "s.jsonl"))
	log := Open(dir, 0, 0)
	for range lines {
		appendEvents(t, log, "s", "forged")
	}
	if Verify(dir, "s", head) == nil {
		t.Error("a rewritten chain was not found against the head")
	}
	prove.Figure(t, "G16", "%d edits, insertions and removals found, a cut tail and a rewritten chain found against a head", changes)
}

// A process that knows the chain goes on with it when the file was cut under it,
// so that the cut shows without any head.
func TestCutUnderWriter(t *testing.T) {
	dir := t.TempDir()
	log := Open(dir, 0, 0)
	appendEvents(t, log, "s", "a", "b", "c")
	raw, _ := os.ReadFile(filepath.Join(dir, "s.jsonl"))
	first, _, _ := strings.Cut(string(raw), "\n")
	if err := os.WriteFile(filepath.Join(dir, "s.jsonl"), []byte(first+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	appendEvents(t, log, "s", "d")
	if got, problems := ids(dir, "s"); !slices.Equal(got, []string{"a", "d"}) || len(problems) != 1 {
		t.Error(got, problems)
	}
	os.Remove(filepath.Join(dir, "s.jsonl"))
	appendEvents(t, log, "s", "e")
	if got, problems := ids(dir, "s"); !slices.Equal(got, []string{"e"}) || len(problems) != 1 {
		t.Error(got, problems)
	}
}

func TestTornLastLine(t *testing.T) {
	for name, tc := range map[string]struct {
		tail     string
		want     []string
		problems []string
	}{
		"half a line":      {`{"v":1,"kind":"event","n":3,"pre`, []string{"a", "b", "c"}, []string{"3: a crash cut this line; its event is lost or was not decided"}},
		"half a character": {"{\"v\":1,\"session\":\"\xc3", []string{"a", "b", "c"}, []string{"3: a crash cut this line; its event is lost or was not decided"}},
		"zeros":            {"\x00\x00\x00\x00", []string{"a", "b", "c"}, []string{"3: a crash cut this line; its event is lost or was not decided"}},
		"nothing":          {"", []string{"a", "b", "c"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			appendEvents(t, Open(dir, 0, 0), "s", "a", "b")
			file, err := os.OpenFile(filepath.Join(dir, "s.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			file.WriteString(tc.tail)
			file.Close()
			if _, problems := ids(dir, "s"); len(problems) != len(tc.problems) {
				t.Errorf("before the next line: %q", problems)
			}
			appendEvents(t, Open(dir, 0, 0), "s", "c")
			got, problems := ids(dir, "s")
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tc.problems, problems); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("only the newline is missing", func(t *testing.T) {
		dir := t.TempDir()
		appendEvents(t, Open(dir, 0, 0), "s", "a", "b")
		file := filepath.Join(dir, "s.jsonl")
		info, _ := os.Stat(file)
		os.Truncate(file, info.Size()-1)
		appendEvents(t, Open(dir, 0, 0), "s", "c")
		if got, problems := ids(dir, "s"); !slices.Equal(got, []string{"a", "b", "c"}) || problems != nil {
			t.Error(got, problems)
		}
	})
}

// Lines that the disk does not take wait in memory, bounded, and come with the
// next one that it takes.
func TestUnwritableFolder(t *testing.T) {
	blocker := filepath.Join(t.TempDir(), "records")
	if err := os.WriteFile(blocker, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	log := Open(blocker, 0, 0)
	for i := range maxWaiting + 10 {
		if err := log.Append("s", at, event(fmt.Sprint(i))); err == nil {
			t.Fatal("no error")
		}
	}
	os.Remove(blocker)
	if err := log.Append("s", at, event("last")); err != nil {
		t.Fatal(err)
	}
	appendEvents(t, log, "s", "behind")
	got, problems := ids(blocker, "s")
	if len(got) != maxWaiting+1 || got[0] != "0" || problems != nil {
		t.Errorf("%d lines, first %s, problems %v", len(got), got[0], problems)
	}
	var lost int64
	for line := range Read(blocker, "s") {
		lost += line.Lost
	}
	if lost != 11 {
		t.Errorf("%d lines counted as lost", lost)
	}
}

func TestLockHeldTooLong(t *testing.T) {
	dir := t.TempDir()
	unlock, err := state.Lock(dir, "s")
	if err != nil {
		t.Fatal(err)
	}
	log, begin := Open(dir, 0, 0), time.Now()
	err = log.Append("s", at, event("a"))
	if took := time.Since(begin); err == nil || took > 250*time.Millisecond {
		t.Errorf("after %v: %v", took, err)
	}
	unlock()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if got, problems := ids(dir, "s"); !slices.Equal(got, []string{"a"}) || problems != nil {
		t.Error(got, problems)
	}
}

// A long session goes on in a new file, one chain over all; the oldest part goes
// first.
func TestRotation(t *testing.T) {
	dir := t.TempDir()
	log := Open(dir, 0, 40<<10)
	var want []string
	for i := range 60 {
		want = append(want, fmt.Sprint("e", i))
	}
	appendEvents(t, log, "s", want...)
	log.pruning.Wait()
	parts, _ := filepath.Glob(filepath.Join(dir, "s.*.jsonl"))
	if got, problems := ids(dir, "s"); len(parts) == 0 || !slices.Equal(got, want) || problems != nil {
		t.Fatalf("%d parts, %v %v", len(parts), got, problems)
	}
	for i := range 200 {
		appendEvents(t, log, "s", fmt.Sprint("f", i))
	}
	log.pruning.Wait()
	if err := log.Prune(); err != nil {
		t.Fatal(err)
	}
	got, problems := ids(dir, "s")
	if len(got) >= 260 || got[len(got)-1] != "f199" || len(problems) != 1 || !strings.Contains(problems[0], "begins with line") {
		t.Errorf("%d lines to %s, problems %v", len(got), got[len(got)-1], problems)
	}
	var total int64
	all, _ := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	for _, p := range all {
		info, _ := os.Stat(p)
		total += info.Size()
	}
	if total > 40<<10 {
		t.Errorf("%d bytes are kept", total)
	}
}

// A process that ends in the middle of a rotation, when the file has its new name and
// nothing is in the next one, leaves a record that goes on as one chain.
func TestEndInRotation(t *testing.T) {
	for name, created := range map[string]bool{"before the next file": false, "before its first line": true} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			log := Open(dir, 0, 0)
			appendEvents(t, log, "s", "a", "b")
			if err := log.Close(); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(path(dir, "s"), segmentPath(dir, "s", 2)); err != nil {
				t.Fatal(err)
			}
			if created {
				if err := os.WriteFile(path(dir, "s"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if head, err := HeadOf(dir, "s"); err != nil || head.N != 2 {
				t.Errorf("head %+v, %v", head, err)
			}
			if all, err := Names(dir); err != nil || !slices.Equal(all, []string{"s"}) {
				t.Errorf("names %v, %v", all, err)
			}
			log = Open(dir, 0, 0)
			appendEvents(t, log, "s", "c")
			if err := log.Close(); err != nil {
				t.Fatal(err)
			}
			if got, problems := ids(dir, "s"); !slices.Equal(got, []string{"a", "b", "c"}) || problems != nil {
				t.Error(got, problems)
			}
		})
	}
}

func TestPruneByAge(t *testing.T) {
	dir := t.TempDir()
	log := Open(dir, 24*time.Hour, 0)
	appendEvents(t, log, "old", "a")
	appendEvents(t, log, "new", "b")
	old := time.Now().Add(-48 * time.Hour)
	os.Chtimes(filepath.Join(dir, "old.jsonl"), old, old)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := Names(dir); err != nil || !slices.Equal(got, []string{"new"}) {
		t.Error(got, err)
	}
}

func TestFollow(t *testing.T) {
	dir := t.TempDir()
	log := Open(dir, 0, 8<<10) // rotates while it is followed
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	done := make(chan []string)
	go func() {
		var got []string
		for line, problem := range Follow(ctx, dir, "s") {
			if problem != nil {
				t.Error(problem)
			}
			var e Event
			if line.Decode(&e) == nil {
				got = append(got, e.ID)
			}
			if e.ID == "last" {
				break
			}
		}
		done <- got
	}()
	var want []string
	for i := range 20 {
		want = append(want, fmt.Sprint(i))
		appendEvents(t, log, "s", fmt.Sprint(i))
		time.Sleep(15 * time.Millisecond)
	}
	appendEvents(t, log, "s", "last")
	if diff := cmp.Diff(append(want, "last"), <-done); diff != "" {
		t.Error(diff)
	}
	log.Close()
}

func TestDigest(t *testing.T) {
	value := protocol.RawMessage(`{"a":1}`)
	hash := hashOf(value)
	for name, tc := range map[string]struct {
		value     protocol.RawMessage
		keep      schema.RecordValues
		sensitive bool
		want      *Digest
	}{
		"hash":      {value, schema.ValuesHash, false, &Digest{Hash: hash, Bytes: 7}},
		"full":      {value, schema.ValuesFull, false, &Digest{Hash: hash, Bytes: 7, Value: value}},
		"sensitive": {value, schema.ValuesFull, true, &Digest{Hash: hash, Bytes: 7}},
		"none":      {value, schema.ValuesNone, false, &Digest{Bytes: 7}},
		"absent":    {nil, schema.ValuesFull, false, nil},
	} {
		if diff := cmp.Diff(tc.want, NewDigest(tc.value, tc.keep, tc.sensitive)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	large := protocol.RawMessage(`"` + strings.Repeat("x", maxValue) + `"`)
	if d := NewDigest(large, schema.ValuesFull, false); d.Value != nil || d.Bytes != len(large) {
		t.Error("a large value is kept whole")
	}
}

func FuzzRead(f *testing.F) {
	dir := f.TempDir()
	log := Open(dir, 0, 0)
	for _, id := range []string{"a", "b"} {
		if err := log.Append("s", at, event(id)); err != nil {
			f.Fatal(err)
		}
	}
	raw, _ := os.ReadFile(filepath.Join(dir, "s.jsonl"))
	f.Add(raw)
	f.Add(raw[:len(raw)-7])
	f.Add([]byte("\n\n{}\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "s.jsonl"), raw, 0o600); err != nil {
			t.Fatal(err)
		}
		before := len(Verify(dir, "s"))
		if err := Open(dir, 0, 0).Append("s", at, event("next")); err != nil {
			t.Fatalf("the chain does not go on: %v", err)
		}
		if after := len(Verify(dir, "s")); after > before {
			t.Errorf("%d problems became %d with the next line", before, after)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	log := Open(b.TempDir(), 0, 0)
	defer log.Close()
	e := event("a")
	b.ReportAllocs()
	for b.Loop() {
		if err := log.Append("s", at, e); err != nil {
			b.Fatal(err)
		}
	}
}

// bytesRead returns how much this process has read from files until now; always 0 where
// the system does not count it.
func bytesRead(t *testing.T) (n int) {
	counts, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0
	}
	if _, err := fmt.Sscanf(string(counts), "rchar: %d", &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// What could not be recorded is told later, by the next process that can.
func TestMissedEventsAreToldLater(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "records")
	if err := os.WriteFile(dir, nil, 0o600); err != nil { // in the way
		t.Fatal(err)
	}
	for _, id := range []string{"a", "b"} { // two processes that live for one event each
		log := Open(dir, 0, 0)
		if err := log.Append("s", at, event(id)); err == nil {
			t.Fatal("it was written")
		}
		log.Close()
	}
	os.Remove(dir)
	log := Open(dir, 0, 0)
	appendEvents(t, log, "s", "c", "d")
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	var told []string
	for line := range Read(dir, "s") {
		if line.Lost > 0 {
			told = append(told, fmt.Sprint(line.N, line.Lost, line.LostIDs))
		}
	}
	if !slices.Equal(told, []string{"1 2 [a b]"}) {
		t.Errorf("told %q", told)
	}
	if left, _ := filepath.Glob(filepath.Join(top, "missed", "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	// A process that writes later what it could not write is missing nothing.
	os.RemoveAll(dir)
	os.WriteFile(dir, nil, 0o600)
	log = Open(dir, 0, 0)
	log.Append("s", at, event("e"))
	log.Close()
	os.Remove(dir)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	for line := range Read(dir, "s") {
		if line.Lost > 0 {
			t.Errorf("line %d says that %v are lost", line.N, line.LostIDs)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(top, "missed", "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Prunes at once remove no more than is too much: a file that another one has removed
// counts as removed.
func TestPrunesAtOnceKeepWhatFits(t *testing.T) {
	log := Open(t.TempDir(), 0, 0)
	name := filepath.Join(log.dir, "s.jsonl")
	if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	seen, err := os.Lstat(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, round := range []string{"there", "removed by another"} {
		if gone, err := log.remove(name, seen); !gone || err != nil {
			t.Errorf("%s: gone %v, %v", round, gone, err)
		}
	}
}
