package install

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/loader/install/internal/configtext"
	"github.com/hookd-dev/hookd/test/prove"
)

// randomFiles is fewer where the race detector makes each cost ten times as much.
var randomFiles = map[bool]uint64{false: 500, true: 25}[prove.Race]

// formats are the formats of the files of an agent, and a path of each.
func formats(a *Agent) map[configtext.Format]file {
	formats := map[configtext.Format]file{}
	for _, f := range a.layout.files(Places{Home: "/home/me", Project: "/p", OS: "linux"}, User) {
		if _, known := formats[f.format]; !known && f.format != "" {
			formats[f.format] = f
		}
	}
	return formats
}

// TestRandomFilesComeBack: 500 files of each agent that look like those of people have
// their very bytes after an installation and its removal, without any copy of them; a
// second installation changes nothing; and what the person changed meanwhile stays.
func TestRandomFilesComeBack(t *testing.T) {
	for _, a := range Agents {
		for format, f := range formats(a) {
			t.Run(a.Name+"-"+string(format), func(t *testing.T) {
				t.Parallel()
				for seed := range randomFiles {
					text := randomFile(a, format, seed)
					if err := roundTrip(a, f, text, Version{999, 0, 0}); err != nil {
						t.Fatalf("seed %d: %v\n--- before\n%s", seed, err, text)
					}
				}
			})
		}
	}
}

func testInstaller(t testing.TB) *Installer {
	return &Installer{State: "/nowhere", Places: Places{Home: "/home/me", Project: "/p", OS: "linux"}}
}

func roundTrip(a *Agent, f file, text string, v Version) error {
	in := testInstaller(nil)
	r := Request{Agent: a, Scope: User, Program: "/opt/it's here/hookd", Version: v}
	events, _ := a.Events(v)
	install := func(text string, old *fileRecord) (*Change, error) {
		c := &Change{Path: f.path, Real: f.path, Exists: true, Before: []byte(text), record: &fileRecord{File: f.path, At: time.Unix(0, 0)}}
		e := edit{in: in, agent: a, file: f, old: old}
		return c, e.install(c, r, events)
	}
	c, err := install(text, nil)
	if err != nil {
		return err
	}
	after := string(c.After)
	again, err := install(after, c.record)
	if err != nil || again.Changes() {
		return fmt.Errorf("the second installation changes something (%v):\n%s\n--- then\n%s", err, after, again.After)
	}
	strip := func(text string) (string, error) {
		rec := *c.record
		rec.After = "" // no copy of the bytes helps
		d, err := configtext.Read(f.format, []byte(text))
		if err != nil {
			return "", err
		}
		base, gone, err := (&edit{in: in, agent: a, file: f}).strip(d, &rec)
		if err != nil || gone {
			return "", fmt.Errorf("the file would be removed: %v, %w", gone, err)
		}
		return string(base.Text), nil
	}
	base, err := strip(after)
	if err != nil || base != text {
		return fmt.Errorf("(%v) the bytes differ\n--- installed\n%s\n--- taken out\n%s", err, after, base)
	}
	changed := func(text string) string { return strings.Replace(text, "here", "was changed", 1) }
	// The program's path has the word in it, too; the person's own comes first or last.
	mine := strings.Replace(after, `"here"`, `"was changed"`, 1)
	want := strings.Replace(text, `"here"`, `"was changed"`, 1)
	if f.format == configtext.YAML {
		mine, want = strings.Replace(after, "sentinel: here", "sentinel: was changed", 1), changed(text)
	}
	if base, err = strip(mine); err != nil || base != want {
		return fmt.Errorf("(%v) with a change of the person's the bytes differ\n--- installed\n%s\n--- taken out\n%s", err, mine, base)
	}
	return nil
}

// TestOneLineStaysOneLine and others: how an entry looks in files of each style.
func TestHowEntriesLook(t *testing.T) {
	a := Find("crush")
	f := formats(a)[configtext.JSON]
	const entry = `{"name": "hookd", "command": "/x/hookd bridge crush PreToolUse --limit 30s", "timeout": 30}`
	lines := func(indent string, nl string) string {
		return strings.ReplaceAll(`{`+nl+`I  "name": "hookd",`+nl+`I  "command": "/x/hookd bridge crush PreToolUse --limit 30s",`+nl+`I  "timeout": 30`+nl+`I}`, "I", indent)
	}
	for text, want := range map[string]string{
		`{"a":1}`:  `{"a":1, "hooks": {"PreToolUse": [` + entry + `]}}`,
		`{"a":1,}`: `{"a":1, "hooks": {"PreToolUse": [` + entry + `]},}`,
		"{\n  \"hooks\": {\n    \"PreToolUse\": [\n    ]\n  }\n}":                   "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      " + lines("      ", "\n") + "\n    ]\n  }\n}",
		"{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {} // mine\n    ]\n  }\n}": "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {}, // mine\n      " + lines("      ", "\n") + "\n    ]\n  }\n}",
		"{\r\n  \"a\": 1\r\n}\r\n": "{\r\n  \"a\": 1,\r\n  \"hooks\": {\r\n    \"PreToolUse\": [\r\n      " + lines("      ", "\r\n") + "\r\n    ]\r\n  }\r\n}\r\n",
	} {
		c := &Change{Path: "f", Real: "f", Exists: true, Before: []byte(text), record: &fileRecord{}}
		e := edit{in: testInstaller(t), agent: a, file: f}
		events, _ := a.Events(Version{})
		if err := e.install(c, Request{Agent: a, Scope: User, Program: "/x/hookd"}, events); err != nil || string(c.After) != want {
			t.Errorf("%q becomes (%v)\n%s\nwant\n%s", text, err, c.After, want)
		}
	}
}

// TestUnreadableFilesAreRefused: each names the line, and nothing is written.
func TestUnreadableFilesAreRefused(t *testing.T) {
	for name, test := range map[string]struct {
		agent, text, want string
		line              int
	}{
		"no end":               {"claude", "{\n \"a\": [1,\n", "ends before the [", 3},
		"no comma":             {"claude", "{\n \"a\": 1\n \"b\": 2}", "comma", 3},
		"two documents":        {"claude", "{}\n{}", "more text", 2},
		"single quotes":        {"claude", "{'a': 1}", "double quotes", 1},
		"hooks is a list":      {"claude", "{\n\"hooks\": []}", "hooks is a list", 2},
		"an event is null":     {"claude", "{\"hooks\": {\n\"PreToolUse\": null}}", "PreToolUse is null", 2},
		"hooks twice":          {"claude", "{\"hooks\": {},\n\"hooks\": {}}", "second time", 2},
		"a comment to the end": {"claude", "{\n/* x }", "comment", 2},
		"UTF-16":               {"claude", "\xff\xfe{\x00}\x00", "UTF-8", 1},
		"bad YAML":             {"hermes", "a: [1\nb: 2", "", 0},
		"hooks in brackets":    {"hermes", "a: 1\nhooks: {x: [1]}", "brackets", 2},
		"hooks is a text":      {"hermes", "hooks: no", "hooks is a string", 1},
		"two YAML documents":   {"hermes", "a: 1\n---\nb: 2\n", "more than one document", 0},
		"a deep nest":          {"claude", strings.Repeat("[", 100_000), "nested deeper", 1},
	} {
		t.Run(name, func(t *testing.T) {
			a := Find(test.agent)
			f := a.layout.files(testInstaller(t).Places, User)[0]
			c := &Change{Path: "f", Real: "f", Exists: true, Before: []byte(test.text), record: &fileRecord{}}
			e := edit{in: testInstaller(t), agent: a, file: f}
			events, _ := a.Events(Version{})
			err := explain("f", e.install(c, Request{Agent: a, Scope: User, Program: "/x/hookd"}, events))
			file, ok := err.(*FileError)
			if !ok || !strings.Contains(err.Error(), test.want) || test.line > 0 && file.Line != test.line || file.Remedy == "" || c.After != nil {
				t.Errorf("%#v: %v", err, err)
			}
		})
	}
}

// TestEarlierInstallationsAreRepaired: entries of another path, in any quotes, and of
// other events make room for one entry for each event.
func TestEarlierInstallationsAreRepaired(t *testing.T) {
	a := Find("claude")
	f := formats(a)[configtext.JSON]
	for _, command := range []string{"/old/hookd bridge claude PreToolUse", `'/old path/hookd' bridge claude PreToolUse --limit 5s`, `\"/old path/hookd\" bridge claude`,
		"/old path/hookd bridge claude PreToolUse", "hookd bridge claude PreToolUse", "/x/hookd-bridge claude PreToolUse --limit 600s --start", `C:\\Users\\me\\hookd.exe bridge claude PreToolUse`} {
		text := `{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "` + command + `"}, {"type": "command", "command": "mine"}]}], "Gone": [{"hooks": [{"command": "` + command + `"}]}]}}`
		c := &Change{Path: f.path, Real: f.path, Exists: true, Before: []byte(text), record: &fileRecord{}}
		e := edit{in: testInstaller(t), agent: a, file: f}
		events, _ := a.Events(Version{2, 1, 328})
		if err := e.install(c, Request{Agent: a, Scope: User, Program: "/x/hookd", Version: Version{2, 1, 328}}, events); err != nil {
			t.Fatalf("%s: %v", command, err)
		}
		root, _ := configtext.Parse(configtext.JSON, c.After)
		entries := a.entriesIn(root)
		if len(entries) != len(events) || !bytes.Contains(c.After, []byte(`"mine"`)) || bytes.Contains(c.After, []byte("old")) || root.Find(configtext.Names("hooks", "Gone")) != nil {
			t.Errorf("%s:\n%s", command, c.After)
		}
	}
}

// TestWhatIsNotOurs: commands that only look like ours stay.
func TestWhatIsNotOurs(t *testing.T) {
	for _, line := range []string{"", "hookd", "hookd check", "my-hookd bridge claude", "/x/hookd2 bridge", "echo hookd bridge", "cd /x && hookd bridge claude", "hookd bridges", "/x/hookd/bridge claude",
		"guard; hookd bridge claude", "/x/hookd.sh bridge"} {
		if c, ok := ParseCommand(line); ok {
			t.Errorf("%q is taken for %+v", line, c)
		}
	}
}

// TestCommandLines: what is written is read as what it was, and each shell reads it as the
// program that it names.
func TestCommandLines(t *testing.T) {
	for shell, lines := range map[Shell]map[string]string{
		POSIX: {
			"/usr/bin/hookd": "/usr/bin/hookd bridge", "/opt/my tools/hookd": "'/opt/my tools/hookd' bridge", "/it's/hookd": `'/it'\''s/hookd' bridge`, `/a"b/hookd`: `'/a"b/hookd' bridge`,
			"/R&D; $x `y`/hookd": "'/R&D; $x `y`/hookd' bridge", "/x/hookd-bridge": "/x/hookd-bridge", "/дом/hookd": "'/дом/hookd' bridge", `/a\b/hookd`: `'/a\b/hookd' bridge`,
			`C:\Program Files\hookd.exe`: `'C:\Program Files\hookd.exe' bridge`,
		},
		Cmd:        {`C:\Program Files\hookd.exe`: `"C:\Program Files\hookd.exe" bridge`, `C:\a&b\hookd-bridge.exe`: `"C:\a&b\hookd-bridge.exe"`},
		PowerShell: {`C:\Program Files\hookd.exe`: `& 'C:\Program Files\hookd.exe' bridge`, `C:\it's $x\hookd.exe`: `& 'C:\it''s $x\hookd.exe' bridge`, `C:\x\hookd-bridge.exe`: `& 'C:\x\hookd-bridge.exe'`},
	} {
		for program, want := range lines {
			c := Command{Program: program, Agent: "claude", Event: "PreToolUse", Limit: 1500 * time.Millisecond}
			line := c.Line(shell)
			if begin, _, _ := strings.Cut(line, " claude"); begin != want {
				t.Errorf("%v: %s, want %s", shell, line, want)
			}
			if got, ok := ParseCommand(line); !ok || got != c {
				t.Errorf("%v: %s is read as %+v", shell, line, got)
			}
		}
	}
}

// TestEveryAgentStartsHookdWithItsOwnShell: on Windows agents do not agree, and a line for one
// shell is a text to print in another.
func TestEveryAgentStartsHookdWithItsOwnShell(t *testing.T) {
	p := Places{Home: "/h", Project: "/p", OS: "windows"}
	for name, want := range map[string]string{"claude": `'C:\my x\hookd.exe' `, "codex": `"C:\my x\hookd.exe" `, "gemini": `& 'C:\my x\hookd.exe' `, "copilot": `& 'C:\my x\hookd.exe' `, "qwen": `"C:\my x\hookd.exe" `} {
		line := p.commandLine(Request{Agent: Find(name), Program: `C:\my x\hookd.exe`}, Event{Name: "E", Limit: time.Second})
		if !strings.HasPrefix(line, want) {
			t.Errorf("%s: %s", name, line)
		}
	}
	script := string(p.script(Request{Agent: Find("cline"), Program: `C:\my x\hookd.exe`}, Event{Name: "PreToolUse", Limit: time.Second}))
	if !strings.Contains(script, "\r\n& 'C:\\my x\\hookd.exe' bridge cline PreToolUse --limit 1s\r\nexit $LASTEXITCODE") {
		t.Errorf("%q", script)
	}
	if c, _, ok := scriptCommand([]byte(script)); !ok || c.Program != `C:\my x\hookd.exe` {
		t.Errorf("%+v", c)
	}
}
