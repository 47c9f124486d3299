package testfile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAFileSaysEventsAndWhatMustComeOut(t *testing.T) {
	file, findings := Parse("/p/guard.sh.test.yaml", []byte(`$schema: x
tests:
  - name: a push is refused
    command: git push
    expect: { verdict: block, reason: { contains: person }, changed: { /args/command: null, "/args/n": 12345678901234567890 } }
  - { event: PreToolUse, data: { name: Bash }, expect: pass }
  - record: 01J
    expect: { failure: timeout, context: "/^a+$/" }
`))
	if len(findings) != 0 || len(file.Tests) != 3 {
		t.Fatalf("%d tests, %v", len(file.Tests), findings)
	}
	push, data, record := file.Tests[0], file.Tests[1], file.Tests[2]
	if push.Line != 3 || push.Name != "a push is refused" || push.Given.Short[0].Key.Name != "command" || string(push.Given.Short[0].JSON) != `"git push"` {
		t.Errorf("%+v", push)
	}
	if w := push.Want; w.Verdict != "block" || !w.Reason.Fits("a person pushes") || w.Reason.Fits("nobody") || !w.AllChanged {
		t.Errorf("%+v", w)
	}
	if got := push.Want.Changed; len(got) != 2 || string(got[0].Value) != "null" || string(got[1].Value) != "12345678901234567890" {
		t.Errorf("a value is not what was written: %s", got)
	}
	if data.Given.Event != "tool-call-start" || string(data.Given.Data) != `{"name":"Bash"}` || data.Name != "tool-call-start" {
		t.Errorf("%+v", data)
	}
	if w := record.Want; record.Name != "record 01J" || w.Failure != "timeout" || !w.Context.Fits("aaa") || w.Context.Fits("aab") {
		t.Errorf("%+v", record)
	}
}

func TestATextFitsWithoutTheSpaceAroundIt(t *testing.T) {
	file, _ := Parse("x.json", []byte(`{"tests":[{"command":"ls","expect":{"reason":"a b","notice":"/"}}]}`))
	w := file.Tests[0].Want
	if !w.Reason.Fits("a b\n") || w.Reason.Fits("a b c") || w.Reason.Fits("") || !w.Notice.Fits("/") {
		t.Error("an exact text fits what it must not, or does not fit itself")
	}
}

// TestWhatIsWrongIsAFindingAndNoTest: one wrong thing in a file, each with its line, and
// never a test that could pass.
func TestWhatIsWrongIsAFindingAndNoTest(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		line int
		want string // of message and remedy
	}{
		"not YAML":                {"tests: [", 1, "cannot be read"},
		"empty":                   {"", 1, "cannot be read"},
		"a list at the top":       {"- command: ls\n  expect: block", 1, "not an object"},
		"no tests":                {"{}", 1, "no tests"},
		"an empty list":           {"tests: []", 1, "empty"},
		"tests of another kind":   {"tests: x", 1, "not a list"},
		"another key":             {"test: []\n", 1, `did you mean "tests"?`},
		"a test that is a text":   {"tests:\n- git push\n", 2, "not an object"},
		"an unknown key":          {"tests:\n- expect: block\n  comand: x", 3, `did you mean "command"?`},
		"a key twice":             {"tests:\n- expect: block\n  command: x\n  command: y", 4, "twice"},
		"nothing expected":        {"tests:\n- command: x", 2, "does not say what must come out"},
		"expect is empty":         {"tests:\n- command: x\n  expect: {}", 3, "expect says nothing"},
		"expect is null":          {"tests:\n- command: x\n  expect:", 3, "not a verdict or an object"},
		"an unknown verdict":      {"tests:\n- command: x\n  expect: blok", 3, `did you mean "block"?`},
		"a verdict of a number":   {"tests:\n- command: x\n  expect: { verdict: 1 }", 3, "not a word"},
		"an unknown failure":      {"tests:\n- command: x\n  expect: { failure: hang }", 3, `no failure "hang"`},
		"an unknown event":        {"tests:\n- event: tool-call\n  expect: block", 2, `no event "tool-call"`},
		"a command of a number":   {"tests:\n- command: 1\n  expect: block", 2, "not a string"},
		"an empty command":        {"tests:\n- tool: \"\"\n  expect: block", 2, "is empty"},
		"args of a text":          {"tests:\n- args: x\n  expect: block", 2, "not an object"},
		"a result of a list":      {"tests:\n- result: [x]\n  expect: block", 2, "not a string or an object"},
		"no JSON in args":         {"tests:\n- args: { at: 2026-01-01 }\n  expect: block", 2, "cannot be JSON"},
		"a key twice in args":     {"tests:\n- args: { a: 1, a: 2 }\n  expect: block", 2, ""},
		"data and short keys":     {"tests:\n- event: tool-call-start\n  data: {}\n  command: ls\n  expect: block", 2, "data says all"},
		"data without event":      {"tests:\n- data: {}\n  expect: block", 2, "not of which event"},
		"record and short keys":   {"tests:\n- record: x\n  command: ls\n  expect: block", 2, "record says the whole event"},
		"no expression":           {"tests:\n- command: x\n  expect: { reason: \"/(/\" }", 3, "RE2"},
		"a text of a list":        {"tests:\n- command: x\n  expect: { reason: [a] }", 3, "not a text"},
		"contains what":           {"tests:\n- command: x\n  expect: { reason: {} }", 3, "does not say what it contains"},
		"contains an empty text":  {"tests:\n- command: x\n  expect: { reason: { contains: \"\" } }", 3, "is empty"},
		"no pointer":              {"tests:\n- command: x\n  expect: { changed: { args.command: y } }", 3, "/args/command"},
		"changed is a list":       {"tests:\n- command: x\n  expect: { changed: [/args] }", 3, "not an object"},
		"an unknown key expected": {"tests:\n- command: x\n  expect: { action: block }", 3, "no key"},
	} {
		t.Run(name, func(t *testing.T) {
			file, findings := Parse("/p/x.test.yaml", []byte(test.text))
			if len(file.Tests) != 0 || len(findings) != 1 {
				t.Fatalf("%d tests, %v", len(file.Tests), findings)
			}
			f := findings[0]
			if f.Line == nil || *f.Line != test.line || f.File != "/p/x.test.yaml" || !strings.Contains(f.Message+" "+f.Remedy, test.want) || f.Remedy == "" {
				t.Errorf("%s", f)
			}
		})
	}
}

// TestOneWrongTestLeavesTheOthers also asserts that all that is wrong is said at once.
func TestOneWrongTestLeavesTheOthers(t *testing.T) {
	file, findings := Parse("x.yaml", []byte("tests:\n- { command: a, expect: blok }\n- { command: b, expect: block }\n- { comand: c, expect: blok }\n"))
	var names []string
	for _, test := range file.Tests {
		names = append(names, test.Name)
	}
	if diff := cmp.Diff([]string{"command: b"}, names); diff != "" || len(findings) != 3 {
		t.Errorf("%s %v", diff, findings)
	}
}

func TestEachKeyHasAMeaning(t *testing.T) {
	for _, keys := range [][]Key{Keys, WantKeys} {
		for _, k := range keys {
			if k.Name == "" || k.Type == "" || k.Meaning == "" || !strings.Contains(Markdown(keys), "| `"+k.Name+"` |") {
				t.Errorf("%+v", k)
			}
		}
	}
}

// FuzzParse: whatever a file holds, nothing crashes, and each test that is read expects
// something.
func FuzzParse(f *testing.F) {
	f.Add("tests:\n- { command: a, expect: { verdict: block, reason: \"/a/\", changed: { /a: 1 } } }")
	f.Add("tests: [{expect: block, args: {a: [1, 2.5e3, null]}}]")
	f.Fuzz(func(t *testing.T, text string) {
		for _, path := range []string{"x.test.yaml", "x.test.json"} {
			file, findings := Parse(path, []byte(text))
			if len(file.Tests) == 0 && len(findings) == 0 {
				t.Fatal("no test and no finding")
			}
			for _, test := range file.Tests {
				w := test.Want
				if w.Verdict == "" && w.Failure == "" && w.Reason == nil && w.Context == nil && w.Notice == nil && !w.AllChanged || test.Name == "" {
					t.Fatalf("a test that expects nothing: %+v", test)
				}
			}
		}
	})
}
