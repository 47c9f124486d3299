package newcmd

import (
	"go/format"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/schema/testfile"
)

// eachPage calls f with the page of each event and class.
func eachPage(f func(spec *protocol.Spec, can protocol.Class, p *page)) {
	for i := range protocol.Table {
		spec := &protocol.Table[i]
		for _, name := range classesAt(spec) {
			can := protocol.Class(name)
			p := newPage(spec, can)
			p.Name, p.Base, p.Build = "my.hook", "my.hook", "go build"
			f(spec, can, p)
		}
	}
}

// header reads the hook's own description out of a text.
func header(t *testing.T, text string) *schema.Entry {
	t.Helper()
	var pairs []schema.Pair
	for i, line := range strings.Split(text, "\n") {
		if _, said, is := strings.Cut(line, " hook: "); is {
			for word := range strings.FieldsSeq(said) {
				key, value, _ := strings.Cut(word, "=")
				pairs = append(pairs, schema.Pair{Key: key, Value: value, Line: i + 1})
			}
		}
	}
	described, findings := schema.EntryFromPairs("x", "x", pairs)
	if len(findings) > 0 || described.Can == nil || len(described.Events) != 1 {
		t.Fatalf("%v in\n%s", findings, text)
	}
	return &described.Entry
}

// Each language has a template for each event and class: its rules can be read, say what was
// wanted, and refuse at a failure where the hook can refuse.
func TestEachTemplateStatesItsRules(t *testing.T) {
	pages := 0
	eachPage(func(spec *protocol.Spec, can protocol.Class, p *page) {
		pages++
		for i := range languages {
			l := &languages[i]
			text, err := fill(l.name, p)
			if err != nil {
				t.Fatalf("%s %s %s: %v", l.name, spec.Name, can, err)
			}
			if strings.Contains(text, "<no value>") || strings.Contains(text, "\n\n\n\n") || strings.HasSuffix(text, "\n\n") {
				t.Errorf("%s %s %s:\n%s", l.name, spec.Name, can, text)
			}
			if l.compiled {
				if pretty, err := format.Source([]byte(text)); err != nil || string(pretty) != text {
					t.Errorf("%s %s: not as gofmt has it (%v):\n%s", spec.Name, can, err, text)
				}
				continue
			}
			said := header(t, text)
			if said.Events[0] != string(spec.Name) || *said.Can != string(can) {
				t.Errorf("%s %s %s: %v, %s", l.name, spec.Name, can, said.Events, *said.Can)
			}
			if closed := said.OnFailure != nil && *said.OnFailure == "block"; can == protocol.CanBlock && !closed {
				t.Errorf("%s %s: a failure of a guard passes", l.name, spec.Name)
			}
		}
		text, err := fill("tests.yaml", p)
		file, findings := testfile.Parse("x.test.yaml", []byte(text))
		if err != nil || len(findings) > 0 || len(file.Tests) < 2 {
			t.Errorf("%s %s: %v, %v\n%s", spec.Name, can, err, findings, text)
		}
	})
	if pages < 50 {
		t.Errorf("%d events and classes", pages)
	}
}

// A class at which a hook can do nothing is no choice, and what it can do is said.
func TestWhatAnEventCannotDoIsRefused(t *testing.T) {
	for _, c := range []struct{ event, can, want, remedy string }{
		{"tool-call-start", "", "block", ""}, {"PreToolUse", "modify", "modify", ""}, {"session-start", "", "modify", ""}, {"session-start", "block", "block", ""},
		{"session-end", "", "observe", ""}, {"session-end", "block", "", "--can observe"}, {"agent-end", "block", "", "--can observe, or --can modify"},
		{"notification", "modify", "", "--can observe"}, {"prompt-submit", "blok", "", `did you mean "block"?`},
	} {
		spec, err := pickEvent(c.event)
		if err != nil {
			t.Fatal(err)
		}
		can, err := pickClass(spec, c.can)
		if string(can) != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%s %s: %s, %v", c.event, c.can, can, err)
		}
		if fault, is := err.(*cli.Fault); is && !strings.Contains(fault.Hint, c.remedy) {
			t.Errorf("%s %s: %s", c.event, c.can, fault.Hint)
		}
	}
}

// A name's ending says the language: of two languages with one ending, the one that is here.
func TestTheLanguageFollowsTheName(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("PATH", folder)
	is := func(name, lang, want string) {
		t.Helper()
		l, err := pickLanguage(name, lang)
		if err != nil && want != "" || err == nil && l.name != want {
			t.Errorf("%s %q: %+v, %v; want %s", name, lang, l, err, want)
		}
	}
	for name, want := range map[string]string{"a": "sh", "a.sh": "sh", "a.bash": "bash", "a.py": "python", "a.mjs": "node", "a.rb": "ruby", "a.go": "go", "a.ts": "bun"} {
		is(name, "", want)
	}
	is("a.sh", "py", "python")
	is("a", "cobol", "")
	if err := os.WriteFile(filepath.Join(folder, "deno"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	is("a.ts", "", "deno")
	is("a.ts", "bun", "bun")
}

// Each language is a row and a file, and each event a row.
func TestTablesAreWhole(t *testing.T) {
	names := languageNames()
	files, err := templates.ReadDir("template")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(f.Name(), ".tmpl")
		if i := slices.Index(names, name); i >= 0 {
			names = slices.Delete(names, i, i+1)
		} else if name != "tests.yaml" && name != "side.yaml" {
			t.Errorf("the file %s has no row", f.Name())
		}
	}
	if len(names) > 0 || len(subjects) != len(protocol.Table) {
		t.Errorf("languages without a file: %v; %d events, %d rows", names, len(protocol.Table), len(subjects))
	}
}
