package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/schema/document"
)

// DecodeEntry reads one description: an item of hooks.use, a side file, the
// answer of a program. pos is its place and hook the name of the hook as far as
// it is known; a settings entry says it itself. The result is rejected, and
// says so by Faults, if any part of it does not fit.
func DecodeEntry(n *document.Node, source Source, pos Pos, hook string) (Described, []Finding) {
	if source == FromSettings {
		if name := n.Get("name"); name != nil && name.Kind == document.String && isHookName(name.Text) {
			hook = name.Text
		}
	}
	if n.Line > 0 {
		pos.Line = n.Line
	}
	d := Described{From: source, Pos: pos, Hook: hook}
	r := &reader{file: pos.File, hook: hook, foreign: foreignOf(n)}
	if n.Kind != document.Object {
		what := pos.Path
		if what == "" {
			what = "the description"
		}
		r.fault(n, pos.Path, CodeWrongType, fmt.Sprintf("%s is %s, not an object", lastKey(what), describe(n)), `write an object: {"events": ["tool-call-start"], "can": "block"}`)
		d.Faults = fieldNames(reflect.ValueOf(Entry{}))
		return d, r.findings
	}
	d.Faults, d.fields = r.object(n, pos.Path, reflect.ValueOf(&d.Entry).Elem(), shape{source: source})
	d.Faults = append(d.Faults, r.checkStruct(n, pos.Path, &d.Entry)...)
	if d.Reply != nil && d.Command != nil {
		r.at(d.At("reply"), SeverityError, CodeConflict, "the entry has both a command and a reply", "leave one of them out: a hook is a program, or a rule that carries its answer itself")
		d.Faults = append(d.Faults, "reply")
	}
	if !r.toolPatterns(n, pos.Path, d.Match) {
		d.Faults = append(d.Faults, "match")
	}
	if source == FromSettings && d.Name == nil && n.Get("name") == nil {
		r.fault(n, pos.Path, CodeNameless, "the entry has no name", `add "name": the file in the hooks folder it describes, or a name for its command`)
		d.Faults = append(d.Faults, "name")
	}
	if d.Protocol != nil && *d.Protocol > knownProtocol {
		at := d.At("protocol")
		r.at(at, SeverityError, CodeNewerProtocol, fmt.Sprintf("the hook was written for protocol %d, this version speaks %d", *d.Protocol, knownProtocol), "update hookd, or write the hook for protocol "+fmt.Sprint(knownProtocol))
		d.Faults = append(d.Faults, "protocol")
	}
	d.forget()
	return d, r.said()
}

// forget drops the values of faulty fields, so that what is left can be relied
// on.
func (d *Described) forget() {
	slices.Sort(d.Faults)
	d.Faults = slices.Compact(d.Faults)
	v := reflect.ValueOf(&d.Entry).Elem()
	for _, f := range fieldsOf(v.Type()) {
		if slices.Contains(d.Faults, f.name) {
			v.Field(f.index).SetZero()
		}
	}
}

// Pair is one key=value of a comment header, the quotes around the value
// removed.
type Pair struct {
	Key   string
	Value string
	Line  int // 1-based
}

// EntryFromPairs reads a comment header: keys may be nested with a dot
// (match.tool), lists use commas.
func EntryFromPairs(file, hook string, pairs []Pair) (Described, []Finding) {
	root := &document.Node{Kind: document.Object}
	for _, p := range pairs {
		if root.Line == 0 {
			root.Line = p.Line
		}
		at, keys := root, strings.Split(p.Key, ".")
		for _, key := range keys[:len(keys)-1] {
			at = nested(at, key, p.Line)
		}
		value := &document.Node{Kind: document.Word, Text: p.Value, Line: p.Line}
		at.Members = append(at.Members, document.Member{Key: keys[len(keys)-1], Line: p.Line, Value: value})
	}
	return DecodeEntry(root, FromHeader, Pos{File: file}, hook)
}

// nested returns the object of a key, which it makes if it is not there.
func nested(n *document.Node, key string, line int) *document.Node {
	if child := n.Get(key); child != nil && child.Kind == document.Object {
		return child
	}
	child := &document.Node{Kind: document.Object, Line: line}
	n.Members = append(n.Members, document.Member{Key: key, Line: line, Value: child})
	return child
}
