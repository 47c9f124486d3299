package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// The stories. Each is one behaviour, named by its file; each ends with nothing
// of it alive.
func TestStories(t *testing.T) {
	lookAtSources(t)
	testscript.Run(t, testscript.Params{
		Dir:   "testdata",
		Setup: setUp,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"stopwatch": stopwatch,
			"within":    within,
			"survivors": survivors,
			"waitfor":   waitFor,
			"hook":      makeExecutable,
			"example":   copyExample,
			"repeat":    repeat,
			"replace":   replaceAtomically,
			"dribble":   dribble,
			"retry":     retry,
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// setUp gives a story a machine of its own: a home, a state folder, a project
// and hookd on PATH.
func setUp(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, "home")
	for _, folder := range []string{home, filepath.Join(env.WorkDir, "state"), filepath.Join(env.WorkDir, "proj", ".acai", "hooks")} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
	}
	env.Setenv("HOME", home)
	env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, "state"))
	env.Setenv("XDG_RUNTIME_DIR", "")
	env.Setenv("PATH", filepath.Dir(binary)+string(os.PathListSeparator)+env.Getenv("PATH"))
	env.Setenv("LANG", "C.UTF-8")
	env.Values["watch"] = &watch{}
	env.Defer(func() {
		if left := alive(env.WorkDir); len(left) > 0 {
			env.T().Log("left alive:", strings.Join(left, "; "))
			env.T().FailNow()
		}
	})
	return nil
}

type watch struct{ began time.Time }

// stopwatch starts the clock that within reads.
func stopwatch(ts *testscript.TestScript, neg bool, args []string) {
	ts.Value("watch").(*watch).began = time.Now()
}

// within MAX [MIN]: the time since stopwatch is at most MAX and at least MIN.
func within(ts *testscript.TestScript, neg bool, args []string) {
	took := time.Since(ts.Value("watch").(*watch).began)
	limit, err := time.ParseDuration(args[0])
	ts.Check(err)
	// A machine that is busy with other tests is slower; the limits that
	// matter are asserted on the outcome's own figures too.
	if took > limit {
		ts.Fatalf("took %v, more than %v", took, limit)
	}
	if len(args) > 1 {
		least, err := time.ParseDuration(args[1])
		ts.Check(err)
		if took < least {
			ts.Fatalf("took %v, less than %v", took, least)
		}
	}
	ts.Logf("took %v", took)
}

// survivors: within a second of now, no process of this story is alive.
func survivors(ts *testscript.TestScript, neg bool, args []string) {
	left := aliveAfter(ts.Getenv("WORK"), time.Second)
	if len(left) > 0 {
		ts.Fatalf("still alive: %s", strings.Join(left, "; "))
	}
}

// waitFor FILE: waits up to five seconds until the file is there.
func waitFor(ts *testscript.TestScript, neg bool, args []string) {
	for range 500 {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("%s did not appear", args[0])
}

// hook FILE…: makes files executable, as every hook is.
func makeExecutable(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		ts.Check(os.Chmod(ts.MkAbs(name), 0o755))
	}
}

// example NAME…: copies hooks of examples/hooks into the project.
func copyExample(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		text, err := os.ReadFile(filepath.Join("..", "..", "examples", "hooks", name))
		ts.Check(err)
		ts.Check(os.WriteFile(filepath.Join(ts.Getenv("WORK"), "proj", ".acai", "hooks", name), text, 0o755))
	}
}

// repeat N COMMAND…: runs a command that must succeed N times.
func repeat(ts *testscript.TestScript, neg bool, args []string) {
	n := 0
	_, err := fmt.Sscan(args[0], &n)
	ts.Check(err)
	for range n {
		ts.Check(ts.Exec(args[1], args[2:]...))
	}
}

// retry DURATION TEXT COMMAND…: runs a command until its stdout holds a text.
func retry(ts *testscript.TestScript, neg bool, args []string) {
	limit, err := time.ParseDuration(args[0])
	ts.Check(err)
	for deadline := time.Now().Add(limit); ; time.Sleep(20 * time.Millisecond) {
		err := ts.Exec(args[2], args[3:]...)
		if err == nil && strings.Contains(ts.ReadFile("stdout"), args[1]) != neg {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("no %q within %v", args[1], limit)
		}
	}
}

// replace FILE NEW: puts a copy of NEW in place of FILE by rename, as editors do.
func replaceAtomically(ts *testscript.TestScript, neg bool, args []string) {
	target := ts.MkAbs(args[0])
	temporary := filepath.Join(filepath.Dir(target), ".replace.tmp")
	ts.Check(os.WriteFile(temporary, []byte(ts.ReadFile(args[1])), 0o755))
	ts.Check(os.Chmod(temporary, 0o755))
	ts.Check(os.Rename(temporary, target))
}

// dribble FILE NEW PAUSE: empties FILE, then writes NEW in three parts with
// pauses before each, as a careless program does. It goes on in the background
// until the story waits with `dribble -wait`.
func dribble(ts *testscript.TestScript, neg bool, args []string) {
	if args[0] == "-wait" {
		dribbling.Wait()
		return
	}
	pause, err := time.ParseDuration(args[2])
	ts.Check(err)
	text := []byte(ts.ReadFile(args[1]))
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_WRONLY|os.O_TRUNC, 0)
	ts.Check(err)
	dribbling.Go(func() {
		defer f.Close()
		third := len(text)/3 + 1
		for len(text) > 0 {
			time.Sleep(pause)
			n := min(third, len(text))
			if _, err := f.Write(text[:n]); err != nil {
				return
			}
			text = text[n:]
		}
	})
}

var dribbling sync.WaitGroup
