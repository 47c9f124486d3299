package state

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/internal/hookvalues"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("STATE_TEST_WRITER"); dir != "" {
		writeMany(dir, os.Getenv("STATE_TEST_HOOK"))
		return
	}
	os.Exit(m.Run())
}

func seq(n int64) *int64 { return &n }

var (
	low  = Key{Layer: protocol.Project, Name: "guard.sh"}
	high = Key{Layer: protocol.Managed, Name: "guard.sh"}
	peer = Key{Layer: protocol.User, Name: "a.sh"}
)

func write(key Key, what What, value string, s *int64, saw int64) Write {
	return Write{Key: key, What: what, Value: protocol.RawMessage(value), Seq: s, Saw: saw}
}

// openedAt is a write of the n-th opening of the session.
func openedAt(n int64, w Write) Write {
	w.Epoch = n
	return w
}

// Of events that ran side by side the higher seq stands, and the other is named
// as lost whichever of them wrote first.
func TestSideBySideWrites(t *testing.T) {
	for name, tc := range map[string]struct {
		writes      []Write
		want        string
		overwritten []Overwritten
	}{
		"one after the other":       {[]Write{write(low, State, "1", seq(5), 0), write(low, State, "2", seq(6), 1)}, "2", nil},
		"later event writes last":   {[]Write{write(low, State, "1", seq(5), 0), write(low, State, "2", seq(6), 0)}, "2", []Overwritten{{Hook: "guard.sh", What: State, Seq: seq(5)}}},
		"later event writes first":  {[]Write{write(low, State, "2", seq(6), 0), write(low, State, "1", seq(5), 0)}, "2", []Overwritten{{Hook: "guard.sh", What: State, Seq: seq(5)}}},
		"opened again, in order":    {[]Write{openedAt(1, write(low, State, "1", seq(500), 0)), openedAt(2, write(low, State, "2", seq(1), 0))}, "2", []Overwritten{{Hook: "guard.sh", What: State, Seq: seq(500)}}},
		"opened again, too late":    {[]Write{openedAt(2, write(low, State, "2", seq(1), 0)), openedAt(1, write(low, State, "1", seq(500), 0))}, "2", []Overwritten{{Hook: "guard.sh", What: State, Seq: seq(500)}}},
		"nobody counts":             {[]Write{write(low, State, "1", nil, 0), write(low, State, "2", nil, 0)}, "2", []Overwritten{{Hook: "guard.sh", What: State, Seq: nil}}},
		"a host that counts anew":   {[]Write{write(low, State, "1", seq(500), 0), write(low, State, "2", seq(1), 1)}, "2", nil},
		"removed by the later":      {[]Write{write(low, State, "null", seq(6), 0), write(low, State, "1", seq(5), 0)}, "", []Overwritten{{Hook: "guard.sh", What: State, Seq: seq(5)}}},
		"other hooks are no rivals": {[]Write{write(low, State, "1", seq(6), 0), write(high, State, "2", seq(5), 0), write(low, Metadata, "3", seq(4), 0)}, "1", nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			store := Open(dir)
			var overwritten []Overwritten
			for _, w := range tc.writes {
				l, err := store.Write("s", []Write{w})
				if err != nil {
					t.Fatal(err)
				}
				overwritten = append(overwritten, l...)
			}
			for which, s := range map[string]*Store{"same": store, "another": Open(dir)} {
				snapshot, err := s.Read("s")
				if got := string(snapshot.State(low)); err != nil || got != tc.want {
					t.Errorf("%s process reads %q, %v; want %q", which, got, err, tc.want)
				}
			}
			if diff := cmp.Diff(tc.overwritten, overwritten); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A hook of a lower layer cannot publish under the name of one of a higher.
func TestMetadataNames(t *testing.T) {
	snapshot, _ := Snapshot{}.With([]Write{
		write(low, Metadata, `{"ok":true}`, nil, 0),
		write(high, Metadata, `{"ok":false}`, nil, 0),
		write(peer, Metadata, `9007199254740993`, nil, 0),
		write(peer, State, `"private"`, nil, 0),
	})
	want := `{"a.sh":9007199254740993,"guard.sh":{"ok":false},"project/guard.sh":{"ok":true}}`
	if got := string(snapshot.Metadata(nil)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	snapshot, _ = snapshot.With([]Write{write(peer, Metadata, `null`, nil, snapshot.Revision(peer, Metadata))})
	if got := string(snapshot.Metadata(nil)); strings.Contains(got, "a.sh") {
		t.Errorf("removed metadata is still there: %s", got)
	}
	if got := string(Snapshot{}.Metadata(nil)); got != "{}" {
		t.Errorf("no metadata: %s", got)
	}
}

func TestFilesArePrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sessions")
	if _, err := Open(dir).Write("s", []Write{write(low, State, "1", nil, 0)}); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v %v", path, info.Mode(), err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Two processes write the same session's file; neither loses the other's values.
func TestTwoProcesses(t *testing.T) {
	dir := t.TempDir()
	var writers []*exec.Cmd
	for _, hook := range []string{"a", "b"} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "STATE_TEST_WRITER="+dir, "STATE_TEST_HOOK="+hook)
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		writers = append(writers, cmd)
	}
	for _, cmd := range writers {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	snapshot, err := Open(dir).Read("s")
	if err != nil {
		t.Fatal(err)
	}
	for _, hook := range []string{"a", "b"} {
		for i := range 20 {
			key := Key{Layer: protocol.User, Name: fmt.Sprint(hook, i)}
			if got := string(snapshot.State(key)); got != "9" {
				t.Errorf("%v: %q", key, got)
			}
		}
	}
}

func writeMany(dir, hook string) {
	store := Open(dir)
	for round := range 10 {
		for i := range 20 {
			key := Key{Layer: protocol.User, Name: fmt.Sprint(hook, i)}
			snapshot, _ := store.Read("s")
			w := write(key, State, fmt.Sprint(round), nil, snapshot.Revision(key, State))
			// On a busy machine the lock may be taken for longer than anyone waits;
			// the value then comes with the next one.
			if overwritten, err := store.Write("s", []Write{w}); len(overwritten) > 0 || err != nil && !errors.Is(err, ErrLocked) {
				fmt.Fprintln(os.Stderr, "write:", err, overwritten)
				os.Exit(1)
			}
		}
	}
	for range 100 {
		if _, err := store.Write("s", []Write{write(Key{Layer: protocol.User, Name: hook}, State, "0", nil, 0)}); err == nil {
			return
		}
	}
	fmt.Fprintln(os.Stderr, "the lock never came free")
	os.Exit(1)
}

// A folder that cannot be written costs the memory of other processes, not of
// this one.
func TestUnwritableFolder(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	store := Open(filepath.Join(blocked, "sessions"))
	if _, err := store.Write("s", []Write{write(low, State, "1", nil, 0)}); err == nil {
		t.Error("no error")
	}
	if snapshot, _ := store.Read("s"); string(snapshot.State(low)) != "1" {
		t.Errorf("state in memory: %q", snapshot.State(low))
	}
}

func TestLockHeldTooLong(t *testing.T) {
	dir := t.TempDir()
	unlock, err := Lock(dir, "s")
	if err != nil {
		t.Fatal(err)
	}
	store, begin := Open(dir), time.Now()
	_, err = store.Write("s", []Write{write(low, State, "1", nil, 0)})
	if took := time.Since(begin); err == nil || took > 250*time.Millisecond {
		t.Errorf("after %v: %v", took, err)
	}
	unlock()
	// Another process writes before our next write does: neither is lost.
	if _, err := Open(dir).Write("s", []Write{write(peer, State, "3", nil, 0)}); err != nil {
		t.Fatal(err)
	}
	if snapshot, _ := store.Read("s"); string(snapshot.State(low)) != "1" || string(snapshot.State(peer)) != "3" {
		t.Errorf("we read %s, %s", snapshot.State(low), snapshot.State(peer))
	}
	if _, err := store.Write("s", []Write{write(high, State, "2", nil, 0)}); err != nil {
		t.Fatal(err)
	}
	snapshot, err := Open(dir).Read("s")
	if got := []string{string(snapshot.State(low)), string(snapshot.State(high)), string(snapshot.State(peer))}; err != nil || !slices.Equal(got, []string{"1", "2", "3"}) {
		t.Errorf("after the lock came free: %q, %v", got, err)
	}
}

func TestDamagedFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "s"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "s", fileName), []byte(`{"v":1,"val`), 0o600); err != nil {
		t.Fatal(err)
	}
	store := Open(dir)
	if _, err := store.Read("s"); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("error: %v", err)
	}
	if _, err := store.Read("s"); err != nil {
		t.Errorf("reported again: %v", err)
	}
	if _, err := store.Write("s", []Write{write(low, State, "1", nil, 0)}); err != nil {
		t.Error(err)
	}
}

func TestPrune(t *testing.T) {
	dir := t.TempDir()
	store := Open(dir)
	for _, session := range []string{"old", "new"} {
		if _, err := store.Write(session, []Write{write(low, State, "1", nil, 0)}); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "old", fileName), old, old); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second one is not due
		if err := store.PruneIfDue(24 * time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	for session, want := range map[string]string{"old": "", "new": "1"} {
		if snapshot, err := store.Read(session); err != nil || string(snapshot.State(low)) != want {
			t.Errorf("%s: %q, %v", session, snapshot.State(low), err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "old")); err == nil {
		t.Error("the old session's folder is still there")
	}
}

func TestFileName(t *testing.T) {
	for id, plain := range map[string]bool{
		"01JABCDEF": true, "6f1c-44_x": true, "": false, "..": false, "a/b": false, "a.b": false, ".locks": false,
		"-x": false, "2026-11-27": false, strings.Repeat("a", 129): false, "é": false, "a\x00b": false,
	} {
		name := FileName(id)
		if (name == id) != plain || strings.ContainsAny(name, "/.\x00") || name == "" || len(name) > 128 {
			t.Errorf("%q is kept as %q", id, name)
		}
	}
}

func TestDir(t *testing.T) {
	base := t.TempDir()
	t.Setenv("XDG_STATE_HOME", filepath.Join(base, "x"))
	if err := os.MkdirAll(filepath.Join(base, "x", "hookd"), 0o755); err != nil {
		t.Fatal(err)
	}
	dir, err := Dir()
	if err != nil || dir != filepath.Join(base, "x", "hookd") {
		t.Fatal(dir, err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Error(info.Mode(), err)
	}
	t.Setenv("XDG_STATE_HOME", "relative")
	t.Setenv("HOME", base)
	if dir, err := Dir(); err != nil || dir != filepath.Join(base, ".local", "state", "hookd") {
		t.Error(dir, err)
	}
}

// H36: without HOME the user database is asked.
func TestHomeFromUserDatabase(t *testing.T) {
	t.Setenv("HOME", "")
	os.Unsetenv("HOME")
	if home, err := homeDir(); err != nil || !filepath.IsAbs(home) {
		t.Error(home, err)
	}
}

func FuzzDecode(f *testing.F) {
	snapshot, _ := Snapshot{}.With([]Write{write(low, State, `{"a":[1,2]}`, seq(3), 0)})
	encoded, _ := snapshot.Encode()
	f.Add(encoded)
	f.Add([]byte(`{"v":1,"rev":1,"values":[{"layer":"user"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		snapshot, err := hookvalues.Decode(raw)
		if err != nil {
			return
		}
		if _, err := snapshot.Encode(); err != nil {
			t.Errorf("decoded, but cannot be encoded: %v", err)
		}
		if got := snapshot.Metadata(nil); !jsonspan.Valid(got) {
			t.Errorf("metadata is not JSON: %s", got)
		}
	})
}
