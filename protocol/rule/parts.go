package rule

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
)

// LongestPart is how many characters of a part are shown.
const LongestPart = 200

const partsRemedy = "a part is such as ${data.args.command}, ${data.name} or ${project}; write $${ for the two characters themselves"

// What stands for a part that has no value, or that nobody is to read.
const (
	noValue     = "(none)"
	hiddenValue = "(hidden: a sensitive hook has seen it)"
)

// template is a text with parts of an event in it.
type template []piece

// piece is a text as it is written, or the way to a part.
type piece struct {
	text string
	way  []string
}

// envelope are the parts that every event has besides its data.
var envelope = map[string]func(ev *protocol.Event) string{
	"event":       func(ev *protocol.Event) string { return string(ev.Event) },
	"project":     func(ev *protocol.Event) string { return ev.Project },
	"cwd":         func(ev *protocol.Event) string { return ev.Cwd },
	"turn":        func(ev *protocol.Event) string { return strconv.Itoa(ev.Turn) },
	"step":        func(ev *protocol.Event) string { return strconv.Itoa(ev.Step) },
	"session.id":  func(ev *protocol.Event) string { return ev.Session.ID },
	"agent.id":    func(ev *protocol.Event) string { return ev.Agent.ID },
	"agent.depth": func(ev *protocol.Event) string { return strconv.Itoa(ev.Agent.Depth) },
	"agent.host":  func(ev *protocol.Event) string { return ev.Agent.Host },
}

// returned are members of data that hold what a tool or a model wrote as its result.
var returned = []string{"result", "response", "error", "message", "messages", "calls", "summary", "content"}

// parse reads a text for events that have the given rows.
func parse(written string, specs []*protocol.Spec) (template, error) {
	var t template
	plain := strings.Builder{}
	for rest := written; rest != ""; {
		at := strings.Index(rest, "${")
		if at < 0 {
			plain.WriteString(rest)
			break
		}
		if at > 0 && rest[at-1] == '$' { // $${ is ${
			plain.WriteString(rest[:at-1] + "${")
			rest = rest[at+2:]
			continue
		}
		name, after, closed := strings.Cut(rest[at+2:], "}")
		if !closed {
			return nil, fmt.Errorf("${%s has no closing brace", text.Shorten(name, 40))
		}
		way := strings.Split(name, ".")
		if err := known(name, way, specs); err != nil {
			return nil, err
		}
		plain.WriteString(rest[:at])
		t, rest = append(t, piece{text: plain.String()}, piece{way: way}), after
		plain.Reset()
	}
	if plain.Len() > 0 {
		t = append(t, piece{text: plain.String()})
	}
	return t, nil
}

// known returns why the events have no such part, nil if each of them has it.
func known(name string, way []string, specs []*protocol.Spec) error {
	shown := "${" + text.Shorten(name, 60) + "}"
	if envelope[name] != nil {
		return nil
	}
	if way[0] != "data" || len(way) < 2 {
		meant := text.Nearest(name, names())
		if meant != "" {
			return fmt.Errorf("an event has no part %s; did you mean ${%s}?", shown, meant)
		}
		return fmt.Errorf("an event has no part %s", shown)
	}
	if slices.Contains(returned, way[1]) {
		return fmt.Errorf("%s is what a tool or a model returned, and no text of a rule", shown)
	}
	for _, spec := range specs {
		if missing := lacks(reflect.TypeOf(spec.Data), way[1:]); missing != "" {
			return fmt.Errorf("%s: %s has no member %q there", shown, spec.Name, text.Shorten(missing, 40))
		}
	}
	return nil
}

func names() []string {
	list := []string{"data.args.command", "data.args.path", "data.name"}
	for name := range envelope {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// lacks returns the first name of a way that a type does not have, "" if it has all.
// Below a member that holds any JSON everything may be.
func lacks(t reflect.Type, way []string) string {
	for _, name := range way {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if name == "" {
			return name + " "
		}
		if t == reflect.TypeFor[protocol.RawMessage]() {
			continue
		}
		if t.Kind() != reflect.Struct {
			return name
		}
		found := false
		for _, f := range reflect.VisibleFields(t) {
			if key, _, _ := strings.Cut(f.Tag.Get("json"), ","); key == name && !f.Anonymous {
				t, found = f.Type, true
				break
			}
		}
		if !found {
			return name
		}
	}
	return ""
}

// expand returns the text for an event.
func (t template) expand(ev *protocol.Event, hidden bool) string {
	var b strings.Builder
	for _, p := range t {
		if p.way == nil {
			b.WriteString(p.text)
			continue
		}
		b.WriteString(valueOf(p.way, ev, hidden))
	}
	return b.String()
}

func valueOf(way []string, ev *protocol.Event, hidden bool) string {
	if part := envelope[strings.Join(way, ".")]; part != nil {
		return shown(part(ev))
	}
	if hidden {
		return hiddenValue
	}
	value := ev.Data
	for _, name := range way[1:] {
		if jsonspan.Kind(value) != '{' {
			return noValue
		}
		value = jsonspan.Get(value, name)
	}
	switch jsonspan.Kind(value) {
	case '"':
		return shown(jsonspan.Text(value))
	case 0, 'n':
		return noValue
	}
	return shown(string(jsonspan.OneLine(value)))
}

// shown returns a value as a person may read it: on one line, and not too long.
func shown(value string) string {
	if value == "" {
		return noValue
	}
	return cut(text.Line(cut(value)))
}

// cut returns the first [LongestPart] characters of a text.
func cut(value string) string {
	if len(value) <= LongestPart || utf8.RuneCountInString(value) <= LongestPart {
		return value
	}
	n := 0
	for at := range value {
		if n++; n == LongestPart {
			return value[:at] + "…"
		}
	}
	return value
}
