package testfile

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/schema/document"
)

// Suffixes are what the name of a test file has after the hook's.
var Suffixes = []string{".test.yaml", ".test.json"}

// MaxSize bounds a test file, in bytes.
const MaxSize = 1 << 20

// File is a test file.
type File struct {
	Path  string
	Tests []Test
}

// Test is one test: an event and what must come out.
type Test struct {
	Name  string
	Line  int // 1-based
	Given Given
	Want  Want
}

// Given is the event of a test as it was written.
type Given struct {
	Event  protocol.EventName // "" if the hook's own events decide
	Tool   string
	Args   json.RawMessage // nil if there is none
	Data   json.RawMessage // the whole data, nil in short form
	Record string          // ID of a recorded event
	Short  []Value         // the short keys, in the order of Keys
	State  json.RawMessage // what the hook kept before, nil if nothing
	Usage  json.RawMessage // what the run has used so far, nil if nobody says
}

// Value is the value of a short key.
type Value struct {
	Key  *Key
	JSON json.RawMessage
}

// The codes of what is wrong in a test file.
const (
	CodeUnreadable schema.Code = "test-unreadable"
	CodeWrong      schema.Code = "test-wrong"
)

// Parse reads a test file. The tests that have no finding are in the file all the same.
func Parse(path string, content []byte) (*File, []schema.Finding) {
	r := &reader{file: path}
	root, line, err := document.ParseFile(path, content)
	if err != nil {
		r.add(line, "", CodeUnreadable, "the tests cannot be read: "+err.Error(), "correct the file; hookd schema test says what it may hold")
		return &File{Path: path}, r.findings
	}
	return &File{Path: path, Tests: r.tests(root)}, r.findings
}

// OfEntry reads the tests that a settings entry carries.
func OfEntry(tests *schema.Tests) (*File, []schema.Finding) {
	r := &reader{file: tests.File}
	return &File{Path: tests.File, Tests: r.list(tests.List, tests.Path)}, r.findings
}

type reader struct {
	file     string
	findings []schema.Finding
}

func (r *reader) add(line int, path string, code schema.Code, message, remedy string) {
	r.findings = append(r.findings, schema.NewFinding(schema.Pos{File: r.file, Line: line, Path: path}, "", schema.SeverityError, code, message, remedy))
}

func (r *reader) wrong(n *document.Node, path, message, remedy string) {
	r.add(n.Line, path, CodeWrong, message, remedy)
}

func (r *reader) tests(root *document.Node) []Test {
	if root.Kind != document.Object {
		r.wrong(root, "", "the file is "+root.Kind.String()+", not an object", testsForm)
		return nil
	}
	members := r.members(root, "", []Key{{Name: "tests"}, {Name: "$schema"}})
	list := members["tests"]
	switch {
	case list == nil && len(r.findings) == 0:
		r.wrong(root, "", "the file has no tests", testsForm)
	case list == nil:
	default:
		return r.list(list, "tests")
	}
	return nil
}

// testsForm is the remedy for what is no list of tests.
const testsForm = "write tests: and below it a list: - command: git push"

// list reads a list of tests at a path of keys.
func (r *reader) list(list *document.Node, path string) (tests []Test) {
	switch {
	case list.Kind != document.List:
		r.wrong(list, path, "tests is "+list.Kind.String()+", not a list", testsForm)
	case len(list.Items) == 0:
		r.wrong(list, path, "the list of tests is empty", testsForm)
	default:
		for i, item := range list.Items {
			before := len(r.findings)
			if t := r.test(item, path+"["+strconv.Itoa(i)+"]"); len(r.findings) == before {
				tests = append(tests, t)
			}
		}
	}
	return tests
}

// members returns the members of an object by their keys. A key that is not known, or is
// there twice, is a finding.
func (r *reader) members(n *document.Node, path string, keys []Key) map[string]*document.Node {
	found := map[string]*document.Node{}
	for _, m := range n.Members {
		at := &document.Node{Line: m.Line}
		switch {
		case find(keys, m.Key) == nil:
			remedy := "the keys here are " + strings.Join(namesOf(keys), ", ")
			if near := text.Nearest(m.Key, namesOf(keys)); near != "" {
				remedy = fmt.Sprintf("did you mean %q?", near)
			}
			r.wrong(at, path, fmt.Sprintf("there is no key %q here", clip(m.Key)), remedy)
		case found[m.Key] != nil:
			r.wrong(at, path, fmt.Sprintf("the key %s is here twice", m.Key), "keep one of them")
		default:
			found[m.Key] = m.Value
		}
	}
	return found
}

func (r *reader) test(n *document.Node, path string) Test {
	t := Test{Line: n.Line}
	if n.Kind != document.Object {
		r.wrong(n, path, "a test is "+n.Kind.String()+", not an object", "write - command: git push, and expect: below it")
		return t
	}
	members := r.members(n, path, Keys)
	t.Name, _ = r.string(members["name"], path, "name")
	t.Given = r.given(members, path)
	if expect := members["expect"]; expect != nil {
		t.Want = r.want(expect, path+".expect")
	} else {
		r.wrong(n, path, "the test does not say what must come out", "add expect: block, or expect: observe")
	}
	r.conflicts(n, path, &t.Given, members)
	if t.Name == "" {
		t.Name = t.Given.title()
	}
	return t
}

func (r *reader) given(members map[string]*document.Node, path string) (g Given) {
	g.Tool, _ = r.string(members["tool"], path, "tool")
	g.Record, _ = r.string(members["record"], path, "record")
	if event, is := r.string(members["event"], path, "event"); is {
		name, _, known := protocol.Canonical(event)
		if !known {
			r.wrong(members["event"], path+".event", fmt.Sprintf("there is no event %q", clip(event)), protocol.EventHint(event))
		}
		g.Event = name
	}
	g.Args = r.json(members["args"], path, "args", Object)
	g.Data = r.json(members["data"], path, "data", Object)
	g.State = r.json(members["state"], path, "state", Any)
	g.Usage = r.json(members["usage"], path, "usage", Object)
	for i := range Keys {
		k := &Keys[i]
		if n := members[k.Name]; n != nil && k.Place != OfTest {
			if value := r.json(n, path, k.Name, k.Type); value != nil {
				g.Short = append(g.Short, Value{k, value})
			}
		}
	}
	return g
}

// conflicts tells of keys that exclude each other.
func (r *reader) conflicts(n *document.Node, path string, g *Given, members map[string]*document.Node) {
	short := g.Tool != "" || g.Args != nil || len(g.Short) > 0
	switch {
	case members["record"] != nil && (short || members["data"] != nil || members["event"] != nil):
		r.wrong(n, path, "record says the whole event, and there are other keys of an event", "keep record, or the others")
	case members["data"] != nil && short:
		r.wrong(n, path, "data says all of the event's data, and there are short keys", "keep data, or the short keys")
	case members["data"] != nil && members["event"] == nil:
		r.wrong(n, path, "data says an event's data, and not of which event", "add event: tool-call-start, or another event")
	}
}

// title names a test that has no name.
func (g *Given) title() string {
	var words []string
	switch {
	case g.Record != "":
		return "record " + g.Record
	case g.Event != "":
		words = append(words, string(g.Event))
	}
	if g.Tool != "" {
		words = append(words, g.Tool)
	}
	for _, v := range g.Short {
		said := string(v.JSON)
		if unquoted := ""; json.Unmarshal(v.JSON, &unquoted) == nil {
			said = unquoted
		}
		words = append(words, v.Key.Name+": "+said)
	}
	if g.Args != nil {
		words = append(words, string(g.Args))
	}
	if len(words) == 0 {
		return "a sample event"
	}
	return text.Shorten(strings.Join(words, " "), 100)
}

// string reads a string that is not empty; is reports whether there is one.
func (r *reader) string(n *document.Node, path, key string) (value string, is bool) {
	switch {
	case n == nil:
		return "", false
	case n.Kind != document.String:
		r.wrong(n, path+"."+key, key+" is "+n.Kind.String()+", not a string", "put it in quotes")
		return "", false
	case n.Text == "":
		r.wrong(n, path+"."+key, key+" is empty", "say it, or leave it out")
		return "", false
	}
	return n.Text, true
}

// json reads a value of a type as JSON, nil if there is none or it does not fit.
func (r *reader) json(n *document.Node, path, key string, want Type) json.RawMessage {
	if n == nil {
		return nil
	}
	isText, isObject := n.Kind == document.String, n.Kind == document.Object
	switch {
	case want == String && !isText:
		r.wrong(n, path+"."+key, key+" is "+n.Kind.String()+", not a string", "put it in quotes")
		return nil
	case want == Object && !isObject, want == TextOrObject && !isText && !isObject:
		r.wrong(n, path+"."+key, key+" is "+n.Kind.String()+", not "+article(want), "hookd schema test says what a test may hold")
		return nil
	}
	value, err := document.AsJSON(n)
	if err != nil {
		r.wrong(n, path+"."+key, key+" cannot be JSON: "+err.Error(), "write a string, a number, true, false, null, a list or an object")
		return nil
	}
	return value
}

func article(t Type) string {
	if t == Object {
		return "an object"
	}
	return "a string or an object"
}

func clip(written string) string { return text.Shorten(written, 60) }
