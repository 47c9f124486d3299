package schema

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/foreignhooks"
	"github.com/hookd-dev/hookd/schema/document"
	"github.com/hookd-dev/hookd/schema/units"
)

// reader turns located values into Go values and notes every value that does
// not fit.
type reader struct {
	file     string
	hook     string              // name of the hook that is being read, "" outside of an entry
	foreign  *foreignhooks.Agent // whose protocol the description that is being read names, nil for hookd's own
	findings []Finding
	unsaid   int // problems beyond maxFindings
}

// maxFindings bounds what is said of one file. A file with more problems is not
// one that a person wrote.
const maxFindings = 1000

// full reports whether nothing more is noted, so that finding the right words
// is not worth its time.
func (r *reader) full() bool { return len(r.findings) >= maxFindings }

func (r *reader) at(pos Pos, severity Severity, code Code, message, remedy string) {
	if r.full() {
		r.unsaid++
		return
	}
	r.findings = append(r.findings, NewFinding(pos, r.hook, severity, code, message, remedy))
}

// said returns the findings, with a closing one for those that are not listed.
func (r *reader) said() []Finding {
	if r.unsaid == 0 {
		return r.findings
	}
	return append(r.findings, NewFinding(Pos{File: r.file}, r.hook, SeverityError, CodeTooMany, "there are more problems than are listed here", "correct these, and look again"))
}

func (r *reader) fault(n *document.Node, path string, code Code, message, remedy string) {
	r.at(Pos{r.file, n.Line, path}, SeverityError, code, message, remedy)
}

func (r *reader) wrongType(n *document.Node, path, want, example string) {
	r.fault(n, path, CodeWrongType, fmt.Sprintf("%s is %s, not %s", lastKey(path), describe(n), want), "write "+example)
}

// describe names a value for a message, cut to a readable length.
func describe(n *document.Node) string {
	switch n.Kind {
	case document.Number, document.Bool:
		return clip(n.Text)
	case document.String, document.Word:
		return strconv.Quote(clip(n.Text))
	case document.Other:
		return fmt.Sprintf("%s, which JSON has no word for", clip(n.Text))
	default:
		return n.Kind.String()
	}
}

// clip cuts what somebody wrote to a length that a message has room for.
func clip(written string) string { return text.Shorten(written, 60) }

// join adds a key to a key path; a key that is no plain word is quoted.
func join(path, key string) string {
	plain := key != "" && strings.Trim(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
	switch {
	case !plain:
		return path + "[" + strconv.Quote(key) + "]"
	case path == "":
		return key
	}
	return path + "." + key
}

func index(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// lastKey names the value a key path leads to: timeout, use[1].
func lastKey(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

func (r *reader) bool(n *document.Node, path string) (bool, bool) {
	if n.Kind == document.Bool || n.Kind == document.Word && (n.Text == "true" || n.Text == "false") {
		return n.Text == "true", true
	}
	r.wrongType(n, path, "true or false", "true or false, without quotes")
	return false, false
}

func (r *reader) int(n *document.Node, path string) (int64, bool) {
	if n.Kind != document.Number && n.Kind != document.Word {
		r.wrongType(n, path, "a whole number", "a number without quotes")
		return 0, false
	}
	i, err := strconv.ParseInt(n.Text, 10, 64)
	if err != nil {
		r.wrongType(n, path, "a whole number", "a whole number, digits only")
	}
	return i, err == nil
}

func (r *reader) share(n *document.Node, path string) (float64, bool) {
	if n.Kind != document.Number {
		r.wrongType(n, path, "a number", "a number without quotes")
		return 0, false
	}
	f, err := strconv.ParseFloat(n.Text, 64)
	if err != nil {
		r.wrongType(n, path, "a number", "a smaller number")
	}
	return f, err == nil
}

func (r *reader) text(n *document.Node, path string) (string, bool) {
	if n.Kind != document.String && n.Kind != document.Word {
		r.wrongType(n, path, "a string", "a string in quotes")
		return "", false
	}
	if i := strings.IndexFunc(n.Text, isControl); i >= 0 {
		r.fault(n, path, CodeBadValue, fmt.Sprintf("%s holds a control character at byte %d", lastKey(path), i), "remove it")
		return "", false
	}
	return n.Text, true
}

// isControl reports characters that no setting needs and a terminal or a
// process argument would suffer from. Tab and line feed are text.
func isControl(c rune) bool { return c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0x7f }

func (r *reader) duration(n *document.Node, path string) (time.Duration, bool) {
	_, notNumber := strconv.ParseFloat(n.Text, 64)
	bare := n.Kind == document.Number || n.Kind == document.Word && notNumber == nil
	var d time.Duration
	var err error
	switch {
	case bare && r.foreign != nil && r.foreign.Unit != time.Second:
		d, err = units.ParseDuration(n.Text + "ms")
		bare = false
	case bare:
		d, err = units.Seconds(n.Text)
	case n.Kind == document.String || n.Kind == document.Word:
		d, err = units.ParseDuration(n.Text)
	default:
		r.wrongType(n, path, "a duration", `a string with a unit: "500ms", "30s", "2m"`)
		return 0, false
	}
	if err != nil {
		r.fault(n, path, CodeBadValue, fmt.Sprintf("%s: %v", lastKey(path), err), `write a number with one of the units ms, s, m, h, d: "500ms", "30s", "2m"`)
		return 0, false
	}
	if bare && d > 600*time.Second {
		r.at(Pos{r.file, n.Line, path}, SeverityWarning, CodeSecondsOrMillis,
			fmt.Sprintf("%s is the bare number %s, which is seconds: %s", lastKey(path), n.Text, units.FormatDuration(d)),
			fmt.Sprintf("write the unit: %q or %q", n.Text+"ms", units.FormatDuration(d)))
	}
	return d, true
}

func (r *reader) size(n *document.Node, path string) (int64, bool) {
	if n.Kind != document.Number && n.Kind != document.String && n.Kind != document.Word {
		r.wrongType(n, path, "a size", `bytes as a number, or a string with a unit: "64KiB", "1MiB"`)
		return 0, false
	}
	s, err := units.ParseSize(n.Text)
	if err != nil {
		r.fault(n, path, CodeBadValue, fmt.Sprintf("%s: %v", lastKey(path), err), `write bytes as a whole number, or a number with one of the units KiB, MiB, GiB: "64KiB"`)
	}
	return s, err == nil
}

// list reads a list of strings. Items that do not fit are noted and left out;
// ok is false if there was one, or no list at all.
func (r *reader) list(n *document.Node, path string) (items []string, ok bool) {
	if n.Kind == document.Word {
		n = &document.Node{Kind: document.List, Line: n.Line, Items: splitWords(n)}
	}
	if n.Kind != document.List {
		r.wrongType(n, path, "a list", listLike(n))
		return nil, false
	}
	items, ok = make([]string, 0, len(n.Items)), true
	for i, item := range n.Items {
		text, fits := r.text(item, index(path, i))
		if !fits {
			ok = false
			continue
		}
		items = append(items, text)
	}
	return items, ok
}

// listLike shows how a value would be written as a list of strings.
func listLike(n *document.Node) string {
	if n.Kind == document.String && n.Text != "" {
		return "a list of strings: " + quoted([]string{n.Text})
	}
	return `a list of strings: ["…", "…"]`
}

func quoted(items []string) string {
	var b []string
	for _, item := range items {
		b = append(b, strconv.Quote(clip(item)))
	}
	return "[" + strings.Join(b, ", ") + "]"
}

func (r *reader) events(n *document.Node, path string) (Events, bool) {
	if n.Kind == document.String && n.Text == AllEvents {
		return Events{AllEvents}, true
	}
	if n.Kind == document.String {
		r.wrongType(n, path, "a list of event names", fmt.Sprintf("[%q], or \"*\" for all gates and points", n.Text))
		return nil, false
	}
	names, ok := r.list(n, path)
	if n.Kind == document.Word {
		n = &document.Node{Kind: document.List, Line: n.Line, Items: splitWords(n)}
	}
	for i, name := range names {
		if name == AllEvents {
			continue
		}
		const longest = 100 // no name is as long, and looking for a near one takes time
		known := false
		if r.foreign != nil {
			known = true // that agent's names are told when all of the description is known
		} else if len(name) <= longest {
			_, _, known = protocol.Canonical(name)
		}
		if !known {
			place := n
			if len(n.Items) == len(names) {
				place = n.Items[i]
			}
			r.fault(place, index(path, i), CodeUnknownEvent, fmt.Sprintf("there is no event %q", clip(name)),
				protocol.EventHint(name)+" Names are taken exactly as written, `hookd schema event` lists them")
			ok = false
		}
	}
	return names, ok
}

// splitWords splits a word at its commas. A comma inside braces or inside a
// /regular expression/ belongs to the item.
func splitWords(n *document.Node) []*document.Node {
	var items []*document.Node
	if n.Text == "" {
		return nil
	}
	begin, depth, expression := 0, 0, false
	for i := 0; i <= len(n.Text); i++ {
		if i < len(n.Text) {
			switch c := n.Text[i]; {
			case c == '/' && i == begin:
				expression = closes(n.Text[i+1:])
				continue
			case c == '/' && expression && (i+1 == len(n.Text) || n.Text[i+1] == ','):
				expression = false
				continue
			case c == '{':
				depth++
				continue
			case c == '}':
				depth--
				continue
			case c != ',' || expression || depth > 0:
				continue
			}
		}
		items = append(items, &document.Node{Kind: document.Word, Text: n.Text[begin:i], Line: n.Line})
		begin, depth = i+1, 0
	}
	return items
}

// closes reports whether a /…/ that was opened is closed at the end of an item.
func closes(rest string) bool {
	return strings.HasSuffix(rest, "/") || strings.Contains(rest, "/,")
}
