package cassette

import (
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// firstDifference names the first place where two requests differ, and what
// stands there in each.
func firstDifference(recorded, now protocol.RawMessage) string {
	where, a, b := differ("", recorded, now)
	if where == "" && a == "" && b == "" {
		return "they differ in a way that cannot be shown"
	}
	if where == "" {
		where = "the request"
	}
	return fmt.Sprintf("%s: recorded %s, now %s", where, a, b)
}

// differ returns the first place where two values differ, "" for all of them if
// nothing differs.
func differ(path string, a, b protocol.RawMessage) (where, inA, inB string) {
	if jsonspan.Kind(a) != jsonspan.Kind(b) {
		return place(path), shown(a), shown(b)
	}
	switch jsonspan.Kind(a) {
	case '{':
		return differObjects(path, a, b)
	case '[':
		return differLists(path, a, b)
	case '"':
		var s, t string
		if json.Unmarshal(a, &s, jsontext.AllowInvalidUTF8(true)) != nil || json.Unmarshal(b, &t, jsontext.AllowInvalidUTF8(true)) != nil || s == t {
			return "", "", ""
		}
		from := 0
		for from < len(s) && from < len(t) && s[from] == t[from] {
			from++
		}
		return place(path), around(s, from), around(t, from)
	}
	if string(a) != string(b) {
		return place(path), shown(a), shown(b)
	}
	return "", "", ""
}

func differObjects(path string, a, b protocol.RawMessage) (string, string, string) {
	inA, inB := members(a), members(b)
	for _, m := range inA {
		other, there := find(inB, m.name)
		if !there {
			return place(path + "/" + m.name), shown(m.value), "nothing"
		}
		if where, x, y := differ(path+"/"+m.name, m.value, other); where != "" {
			return where, x, y
		}
	}
	for _, m := range inB {
		if _, there := find(inA, m.name); !there {
			return place(path + "/" + m.name), "nothing", shown(m.value)
		}
	}
	return "", "", ""
}

func differLists(path string, a, b protocol.RawMessage) (string, string, string) {
	var inA, inB []protocol.RawMessage
	if json.Unmarshal(a, &inA, loose) != nil || json.Unmarshal(b, &inB, loose) != nil {
		return place(path), shown(a), shown(b)
	}
	for i := range max(len(inA), len(inB)) {
		at := fmt.Sprintf("%s/%d", path, i)
		switch {
		case i >= len(inA):
			return place(at), "nothing", shown(inB[i])
		case i >= len(inB):
			return place(at), shown(inA[i]), "nothing"
		}
		if where, x, y := differ(at, inA[i], inB[i]); where != "" {
			return where, x, y
		}
	}
	return "", "", ""
}

var loose = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

type member struct {
	name  string
	value protocol.RawMessage
}

// members are the members of an object, in its order.
func members(object protocol.RawMessage) (list []member) {
	for _, m := range jsonspan.Members(object) {
		list = append(list, member{m.Name, m.Value})
	}
	return list
}

func find(list []member, name string) (protocol.RawMessage, bool) {
	for _, m := range list {
		if m.name == name {
			return m.value, true
		}
	}
	return nil, false
}

func place(path string) string {
	if path == "" {
		return "the request"
	}
	return path[1:]
}

func shown(v protocol.RawMessage) string {
	if len(v) == 0 {
		return "nothing"
	}
	return cut(string(v), 120)
}

// around shows a text from a little before a place.
func around(s string, at int) string {
	from := max(0, at-30)
	for from > 0 && from < len(s) && !utf8.RuneStart(s[from]) {
		from--
	}
	text := fmt.Sprintf("%q", cut(s[from:], 120))
	if from > 0 {
		return "…" + text
	}
	return text
}

func cut(s string, max int) string {
	if len(s) <= max {
		return s
	}
	for max > 0 && !utf8.RuneStart(s[max]) {
		max--
	}
	return s[:max] + "…"
}
