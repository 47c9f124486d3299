//go:build unix && !concurrent

// These tests only compute: test/progress/goroutines.go says who runs them.

package evasions

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/test/hooktest"
)

// The shares that the packs are held to.
const (
	leastRefused    = 0.95  // of the evasions
	mostHarmless    = 0.005 // of the harmless lines
	leastEvasions   = 400
	leastLookAlikes = 200
)

// entry is a line of a set.
type entry struct {
	kind, line string
	place      string // file:line
}

// The packs refuse, or ask about, nearly all known evasions, and nearly no line that only
// looks like one.
func TestThePacksAgainstKnownEvasions(t *testing.T) {
	gate := packs(t)
	files, err := filepath.Glob("*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var evasions, harmless []entry
	for _, file := range files {
		if file == "harmless.txt" {
			harmless = read(t, file)
		} else {
			evasions = append(evasions, read(t, file)...)
		}
	}
	if len(evasions) < leastEvasions || len(harmless) < leastLookAlikes {
		t.Errorf("%d evasions and %d harmless lines", len(evasions), len(harmless))
	}
	refused := judge(t, gate, evasions, "passes", func(a protocol.Action) bool { return a == protocol.Observe })
	if share := float64(len(evasions)-refused) / float64(len(evasions)); share < leastRefused {
		t.Errorf("of %d evasions %.1f %% are refused, at least %.0f %% are to be", len(evasions), 100*share, 100*leastRefused)
	}
	wrong := judge(t, gate, harmless, "is refused", func(a protocol.Action) bool { return a != protocol.Observe })
	if share := float64(wrong) / float64(len(harmless)); share > mostHarmless {
		t.Errorf("of %d harmless lines %.1f %% are refused, at most %.1f %% may be", len(harmless), 100*share, 100*mostHarmless)
	}
}

// judge fires a call of the shell for each line, logs what came out for each kind, and
// returns how many came out as they should not.
func judge(t *testing.T, gate *executor.Executor, entries []entry, what string, wrong func(protocol.Action) bool) (faults int) {
	counts := map[string]map[protocol.Action]int{}
	var kinds []string
	for _, e := range entries {
		o := hooktest.Fire(t, gate, protocol.Event{Event: protocol.ToolCallStart, Data: data(e.line)})
		if counts[e.kind] == nil {
			counts[e.kind], kinds = map[protocol.Action]int{}, append(kinds, e.kind)
		}
		counts[e.kind][o.Action]++
		if wrong(o.Action) {
			faults++
			t.Logf("%s: %q %s: %s", e.place, e.line, what, o.Reason)
		}
	}
	for _, kind := range kinds {
		c := counts[kind]
		t.Logf("%4d blocked %4d asked %4d passed  %s", c[protocol.Block], c[protocol.Ask], c[protocol.Observe], kind)
	}
	t.Logf("%d of %d: %s", faults, len(entries), what)
	return faults
}

func data(line string) protocol.RawMessage {
	written, err := protocol.Marshal(map[string]any{
		"toolCallId": "c1", "name": "bash", "kind": "shell", "args": map[string]any{"command": line}, "parallel": 1,
	})
	if err != nil {
		panic(err)
	}
	return written
}

// character is one that a line of a set has by its number: ⟨9⟩ is a tab.
var character = regexp.MustCompile(`⟨([0-9A-F]+)⟩`)

// read reads a set: a shell line each, below the heading of its kind. ␤ stands for the
// end of a line inside of one.
func read(t *testing.T, file string) (entries []entry) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	kind, seen := "", map[string]string{}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimSuffix(line, "\n")
		if heading, is := strings.CutPrefix(line, "## "); is {
			kind = heading
			continue
		}
		e := entry{kind: kind, place: fmt.Sprintf("%s:%d", file, number)}
		e.line = character.ReplaceAllStringFunc(strings.ReplaceAll(line, "␤", "\n"), func(s string) string {
			code, err := strconv.ParseUint(strings.Trim(s, "⟨⟩"), 16, 32)
			if err != nil {
				t.Errorf("%s: %v", e.place, err)
			}
			return string(rune(code))
		})
		if at, twice := seen[e.line]; twice {
			t.Errorf("%s: the line stands at %s", e.place, at)
		}
		seen[e.line] = e.place
		if kind == "" || strings.TrimSpace(line) == "" {
			t.Errorf("%s: a line without a kind, or an empty one", e.place)
		}
		entries = append(entries, e)
	}
	return entries
}

// packs loads the rules under test as a user has them.
func packs(t testing.TB) *executor.Executor {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home, project, state := filepath.Join(top, "home"), filepath.Join(top, "project"), filepath.Join(top, "state")
	hooks := filepath.Join(home, ".acai", "hooks")
	for _, dir := range []string{hooks, filepath.Join(project, ".acai"), state} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"dangerous-commands", "guard-pushes", "protected-paths"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "examples", "hooks", name+".rules.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(hooks, name+".rules.yaml"), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	runtime, err := process.New(process.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { runtime.Close() })
	snapshot, err := loader.Load(context.Background(), loader.Options{
		Project: project, Cwd: project, Home: home, StateDir: state, Runtime: runtime,
		Managed: &loader.ManagedLayer{Dir: filepath.Join(top, "managed"), Owner: os.Geteuid(), Top: top},
	})
	if err != nil || len(snapshot.Findings) > 0 {
		t.Fatal(err, snapshot.Findings)
	}
	gate := executor.New(snapshot.Set, executor.Options{})
	t.Cleanup(func() { gate.Close(context.Background()) })
	return gate
}

func BenchmarkThePacks(b *testing.B) {
	gate := packs(b)
	for name, line := range map[string]string{
		"short":    "git status",
		"long":     "cd /work/project && make build test 2>&1 | tee out.txt; for f in a b c; do sudo env X=1 sh -c \"cp a /tmp\"; cp $f x; done",
		"variable": "cp $A $B; mv $C \"$D/x\" $E; ls $F $G; install $H $I; tar czf $J $K; for i in $L; do gofmt -l $i; go vet $i; done",
	} {
		b.Run(name, func(b *testing.B) {
			ev := protocol.Event{Event: protocol.ToolCallStart, Data: data(line)}
			b.ReportAllocs()
			for b.Loop() {
				hooktest.Fire(b, gate, ev)
			}
		})
	}
}
