package match

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

func callOfTool(tool, kind string, args map[string]any) *protocol.Event {
	data, err := protocol.Marshal(map[string]any{"toolCallId": "c1", "name": tool, "kind": kind, "args": args})
	if err != nil {
		panic(err)
	}
	return &protocol.Event{Event: protocol.ToolCallStart, Data: data}
}

func decide(t testing.TB, m schema.Match, whole bool, ev *protocol.Event) (Decision, error) {
	t.Helper()
	compiled, key, err := Compile(&m)
	if err != nil {
		t.Fatalf("match.%s: %v", key, err)
	}
	compiled.Whole = whole
	in := NewInput(ev, nil)
	if !compiled.Fits(&in.Input) {
		return No, nil
	}
	return compiled.Decide(context.Background(), in)
}

// A call that begins outside of the project, as after a cd in an earlier one, names files as
// seen from there. In the project they are as they are written.
func TestACommandBeginsInTheFolderOfItsCall(t *testing.T) {
	for _, tc := range []struct {
		project, cwd, line string
		want               Decision
	}{
		{"/opt/app", "/opt/app", "rm home", No},
		{"/opt/app", "/opt/app/sub", "rm home", No},
		{"/opt/app", "/", "rm home", Yes},
		{"/opt/app", "/opt/app", "cd / && rm home", Yes},
		{"/", "/", "rm home", No},
		{"", "/", "rm home", No},
	} {
		ev := callOfTool("bash", "shell", map[string]any{"command": tc.line})
		ev.Project, ev.Cwd = tc.project, tc.cwd
		if got, err := decide(t, schema.Match{Command: []string{"rm /home"}}, false, ev); got != tc.want || err != nil {
			t.Errorf("%s in %s of %s: %v %v, want %v", tc.line, tc.cwd, tc.project, got, err, tc.want)
		}
	}
}

func TestCommandsOfALine(t *testing.T) {
	for _, tc := range []struct {
		pattern, line string
		want          Decision
	}{
		{"git push *", "git push origin main", Yes},
		{"git push *", "git push", Yes},
		{"git push", "git push origin", Yes},
		{"git push", "git pushd", No},
		{"git push *", "ls && sudo env A=1 git push", Yes},
		{"git push *", `sh -c "git push"`, Yes},
		{"git push *", "echo $(git push)", Yes},
		{"git push *", "echo git push", No},
		{"git push *", "git $X", Undecided},
		{"git push *", "echo $X", No},
		{"git push *", "$X", Undecided},
		{"git push *", "git push '", Yes},
		{"git push *", "ls '", Undecided},
		{"/(curl|wget) .*/", "cd x; wget y", Yes},
		{"/(curl|wget) .*/", "cd x; wgety", No},
		{"rm *", "xargs rm < list", Yes},
	} {
		got, err := decide(t, schema.Match{Command: []string{tc.pattern}}, false, callOfTool("bash", "shell", map[string]any{"command": tc.line}))
		if got != tc.want || (got == Undecided) != (err != nil) {
			t.Errorf("%s with %q: %v (%v), want %v", tc.pattern, tc.line, got, err, tc.want)
		}
		if err != nil && UndecidedKey(err) != "command" {
			t.Errorf("%v is about match.%s", err, UndecidedKey(err))
		}
	}
}

// What a rule grants it grants to the line as a whole: one other command in it is enough
// for a no.
func TestWhatGrantsCoversTheWholeLine(t *testing.T) {
	for line, want := range map[string]Decision{
		"git status": Yes, "git status -s": Yes, "git status; rm -rf /": No, "git status $(rm x)": No, "git status && git log": No,
		"git status > /etc/passwd": No, "sudo git status": No, "git status '": No, "$X": No, "LD_PRELOAD=x git status": No,
	} {
		got, _ := decide(t, schema.Match{Command: []string{"git status *", "git status"}}, true, callOfTool("bash", "shell", map[string]any{"command": line}))
		if got != want {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
	if got, _ := decide(t, schema.Match{Command: []string{"git status *"}}, true, callOfTool("mystery", "other", map[string]any{"command": 7})); got == Yes {
		t.Error("a call of which nobody knows what it runs is granted")
	}
}

func TestCommandsOfOtherTools(t *testing.T) {
	for _, tc := range []struct {
		tool, kind string
		args       map[string]any
		want       Decision
	}{
		{"read_file", "read", map[string]any{"command": "git push"}, No},
		{"mcp__a__b", "mcp", map[string]any{"command": "git push"}, No},
		{"mystery", "other", map[string]any{"command": "git push"}, Yes},
		{"mystery", "other", map[string]any{"command": "ls"}, No},
		{"mystery", "other", map[string]any{"cmd": "git push"}, Undecided},
		{"mystery", "teleport", map[string]any{}, Undecided},
		{"bash", "shell", map[string]any{"command": []string{"git", "push"}}, Undecided},
		{"bash", "shell", map[string]any{}, Undecided},
		{"todo_write", "other", map[string]any{}, No},
		{"BashOutput", "other", map[string]any{}, No},
	} {
		if got, err := decide(t, schema.Match{Command: []string{"git push"}}, false, callOfTool(tc.tool, tc.kind, tc.args)); got != tc.want {
			t.Errorf("%s (%s) %v: %v (%v), want %v", tc.tool, tc.kind, tc.args, got, err, tc.want)
		}
	}
	for _, data := range []string{"", "[]", `{"name":"ba`, `{}`} {
		ev := &protocol.Event{Event: protocol.ToolCallStart, Data: protocol.RawMessage(data)}
		for _, m := range []schema.Match{{Command: []string{"x"}}, {Path: []string{"x"}}} {
			if got, err := decide(t, m, false, ev); got != Undecided || err == nil {
				t.Errorf("%q: %v, %v", data, got, err)
			}
		}
	}
	prompt := &protocol.Event{Event: protocol.PromptSubmit, Data: protocol.RawMessage(`{"prompt":"git push","source":"user","attachments":[]}`)}
	if got, _ := decide(t, schema.Match{Command: []string{"git push"}}, false, prompt); got != Yes {
		t.Errorf("a key without a meaning at the event restricts there: %v", got)
	}
}

// A condition that does not hold decides, whatever else is undecided; and the other way
// round.
func TestKeysDecideTogether(t *testing.T) {
	ev := callOfTool("bash", "shell", map[string]any{"command": "git $X"})
	for _, tc := range []struct {
		match schema.Match
		want  Decision
	}{
		{schema.Match{Command: []string{"git push"}, When: "turn == 0"}, Undecided},
		{schema.Match{Command: []string{"git push"}, When: "turn == 1"}, No},
		{schema.Match{Command: []string{"rm *"}, When: "data.args.gone == 1"}, No},
		{schema.Match{Command: []string{"git push"}, Path: []string{".env"}}, No},
		{schema.Match{Command: []string{"git push"}, Tool: []string{"@read"}}, No},
	} {
		if got, err := decide(t, tc.match, false, ev); got != tc.want {
			t.Errorf("%+v: %v (%v), want %v", tc.match, got, err, tc.want)
		}
	}
}

// Whatever stands around a command that matches, a match never becomes a no.
func TestNothingAroundACommandHidesIt(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	quote := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	wraps := []func(string) string{
		func(s string) string { return "sudo " + s }, func(s string) string { return "env X=1 " + s },
		func(s string) string { return "sh -c " + quote(s) }, func(s string) string { return "bash -lc " + quote(s) },
		func(s string) string { return "ls; " + s }, func(s string) string { return "true && " + s },
		func(s string) string { return "false || " + s }, func(s string) string { return s + " | cat" },
		func(s string) string { return "echo $(" + s + ")" }, func(s string) string { return "( " + s + " )" },
		func(s string) string { return "{ " + s + "; }" }, func(s string) string { return "if true; then " + s + "; fi" },
		func(s string) string { return "for i in 1; do " + s + "; done" }, func(s string) string { return "f() { " + s + "; }; f" },
		func(s string) string { return "timeout 5 sh -c " + quote(s) }, func(s string) string { return "! " + s },
		func(s string) string { return s + " &" }, func(s string) string { return "eval " + quote(s) },
		func(s string) string { return "cd sub\n" + s }, func(s string) string { return "echo x | while read y; do " + s + "; done" },
		func(s string) string { return s + " > out 2>&1" }, func(s string) string { return "cat <(" + s + ")" },
	}
	commands := []string{"git push", "git push origin main", "/usr/bin/git push", "git -C sub push -f", `"git" push`, "git 'push' x"}
	m := schema.Match{Command: []string{"git push *"}}
	for range 3000 {
		line := commands[r.IntN(len(commands))]
		var how []int
		compound := false
		for range 1 + r.IntN(3) {
			n := r.IntN(len(wraps))
			if n < 2 && compound { // sudo and env take a command, not a list
				line = "sh -c " + quote(line)
			}
			line, compound = wraps[n](line), compound || n >= 4
			how = append(how, n)
		}
		if got, _ := decide(t, m, false, callOfTool("bash", "shell", map[string]any{"command": line})); got == No {
			t.Fatalf("%q passes (%v)", line, how)
		}
	}
}

func TestPathsAreRealOnes(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "outside")
	project := filepath.Join(dir, "p[1]")
	for _, sub := range []string{"sub", "config/prod", ".git"} {
		if err := os.MkdirAll(filepath.Join(project, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"notes": ".env", "sub/up": "../config", "out": home, "dangling": filepath.Join(home, "new.pem")} {
		if err := os.Symlink(target, filepath.Join(project, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(project, ".env"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		pattern, path string
		want          Decision
	}{
		{".env", ".env", Yes}, {".env", "notes", Yes}, {".env", "sub/../.env", Yes}, {".env", "./sub/.env", Yes}, {".env", "env", No},
		{".env", filepath.Join(project, ".env"), Yes}, {"*.pem", "dangling", Yes}, {"*.pem", "sub/new/key.pem", Yes},
		{"config/**", "sub/up/prod/x", Yes}, {"config", "sub/up/prod/x", Yes}, {"config/prod", "config/prod/deep/x", Yes},
		{"config/*", "config.go", No}, {"./config/prod/", "config/prod/x", Yes}, {".git", ".git/config", Yes},
		{"../outside/**", "out/x", Yes}, {home + "/**", "out/x", Yes}, {home, "out", Yes}, {"/etc/**", "/etc/passwd", Yes},
		{"/etc/**", "etc/passwd", No}, {"**/*.go", "a/b/c.go", Yes}, {"**/*.go", "c.go", Yes}, {"sub/*.go", "sub/x/c.go", No},
		{"{a,b}.txt", "sub/b.txt", Yes}, {"out", "out/x", Yes}, // as it was written
		{"p*", "sub/x", No}, {"outside", "out/x", Yes},
	} {
		ev := callOfTool("write_file", "write", map[string]any{"path": tc.path})
		ev.Project, ev.Cwd = project, project
		if got, err := decide(t, schema.Match{Path: []string{tc.pattern}}, false, ev); got != tc.want {
			t.Errorf("%s with %s: %v (%v), want %v", tc.pattern, tc.path, got, err, tc.want)
		}
	}
	several := callOfTool("apply_patch", "write", map[string]any{"paths": []string{"sub/x", "notes"}})
	several.Project, several.Cwd = project, project
	if got, _ := decide(t, schema.Match{Path: []string{".env"}}, false, several); got != Yes {
		t.Errorf("of several files one is passed over: %v", got)
	}
	if got, _ := decide(t, schema.Match{Path: []string{"sub/**"}}, true, several); got != No {
		t.Errorf("what covers one of two files grants both: %v", got)
	}
	link := callOfTool("read_file", "read", map[string]any{"path": "out/x"})
	link.Project, link.Cwd = project, project
	if got, _ := decide(t, schema.Match{Path: []string{"out/**"}}, true, link); got != No {
		t.Errorf("a link grants what it leads to: %v", got)
	}
	for tool, want := range map[string]Decision{"bash": No, "fetch": No, "mystery": Undecided, "write_file": Undecided} {
		kind := map[string]string{"bash": "shell", "fetch": "net", "mystery": "other", "write_file": "write"}[tool]
		ev := callOfTool(tool, kind, map[string]any{"file": ".env"})
		ev.Project = project
		if got, _ := decide(t, schema.Match{Path: []string{".env"}}, false, ev); got != want {
			t.Errorf("%s: %v, want %v", tool, got, want)
		}
	}
	here := callOfTool("write_file", "write", map[string]any{"path": "../.env"})
	here.Project, here.Cwd = project, filepath.Join(project, "sub")
	if got, _ := decide(t, schema.Match{Path: []string{".env"}}, false, here); got != Yes {
		t.Errorf("a path that begins at the agent's folder: %v", got)
	}
}

func TestPatternsThatCannotBeComparedAreErrors(t *testing.T) {
	for _, m := range []schema.Match{{Command: []string{""}}, {Command: []string{"/(/"}}, {Path: []string{""}}, {Path: []string{"[a"}}, {Path: []string{"~/x", " "}}} {
		if _, key, err := Compile(&m); err == nil || key != "command" && key != "path" {
			t.Errorf("%+v: %s, %v", m, key, err)
		}
	}
}

// A hundred rules: the line is read once, so an event costs little more than one.
func BenchmarkHundredRules(b *testing.B) {
	for name, line := range map[string]string{"variable": "cp $A $B; mv $C \"$D/x\" $E; ls $F $G; install $H $I; tar czf $J $K; for i in $L; do gofmt -l $i; go vet $i; done", "short": "git status", "long": "cd /work/project && make build test 2>&1 | tee out.txt; for f in a b c; do sudo env X=1 sh -c \"cp a /tmp\"; cp $f x; done"} {
		b.Run(name, func(b *testing.B) {
			matchers := make([]Matcher, 100)
			for i := range matchers {
				m, _, err := Compile(&schema.Match{Command: []string{fmt.Sprintf("tool%d push *", i)}})
				if err != nil {
					b.Fatal(err)
				}
				matchers[i] = m
			}
			ev := callOfTool("bash", "shell", map[string]any{"command": line})
			b.ReportAllocs()
			for b.Loop() {
				in := NewInput(ev, nil)
				for i := range matchers {
					if d, err := matchers[i].Decide(context.Background(), in); d != No {
						b.Fatal(d, err)
					}
				}
			}
		})
	}
}
