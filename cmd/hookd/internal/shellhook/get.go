package shellhook

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// UsageError is wrong arguments, in words that say what would be right.
type UsageError struct{ Message, Hint string }

func (e *UsageError) Error() string { return e.Message }

// wanted is one value that [Get] is to print.
type wanted struct {
	variable string // of the shell
	given    bool   // the variable was written out
	path     jsontext.Pointer
	name     string // as it was given, for messages
	optional bool   // null or nothing is an empty text
}

// Get reads an event and writes values of it: of one name the text itself, of
// several names, or of one with its own variable, an assignment for each that a
// shell can evaluate. It writes all of them or nothing.
//
// The content of a message or a result may be a list of parts: its value is all their
// text.
//
// A name is a path of members joined by dots (data.args.command, data.calls.0.name)
// or a JSON Pointer (/data/args/a.b). One that ends with a question mark may be
// missing. variable=name chooses the variable, which is else the last member.
func Get(names []string, event io.Reader, out io.Writer) error {
	list, err := parseNames(names)
	if err != nil {
		return err
	}
	input, err := io.ReadAll(event)
	if err != nil {
		return fmt.Errorf("the event cannot be read: %w", err)
	}
	value := protocol.RawMessage(input)
	if !jsonspan.Valid(value) {
		return errors.New("stdin holds no event: it is not one JSON value")
	}
	alone := len(list) == 1 && !list[0].given
	var text strings.Builder
	for _, w := range list {
		scalar, err := w.textIn(value)
		switch {
		case err != nil:
			return err
		case alone:
			text.WriteString(scalar)
		default:
			text.WriteString(w.variable + "=" + quoted(scalar))
		}
		text.WriteByte('\n')
	}
	_, err = io.WriteString(out, text.String())
	return err
}

func parseNames(names []string) ([]wanted, error) {
	list := make([]wanted, 0, len(names))
	taken := map[string]string{}
	for _, name := range names {
		w, err := parseName(name)
		if err != nil {
			return nil, err
		}
		if other, twice := taken[w.variable]; twice && len(names) > 1 {
			return nil, &UsageError{
				fmt.Sprintf("%s and %s would both be the variable %s", other, name, w.variable),
				"name the variable: other=" + w.name,
			}
		}
		taken[w.variable] = name
		if len(names) > 1 && !isVariable(w.variable) {
			return nil, notAVariable(w.variable, w.name)
		}
		list = append(list, w)
	}
	return list, nil
}

func parseName(text string) (wanted, error) {
	w := wanted{name: text}
	if variable, name, found := strings.Cut(text, "="); found && !strings.ContainsAny(variable, "./") {
		if !isVariable(variable) {
			return w, notAVariable(variable, name)
		}
		w.variable, w.given, w.name = variable, true, name
	}
	path, optional := strings.CutSuffix(w.name, "?")
	w.optional = optional
	pointer, err := pointerOf(path)
	if err != nil {
		return w, err
	}
	w.path = pointer
	if !w.given {
		w.variable = pointer.LastToken()
	}
	return w, nil
}

// pointerOf returns a path with dots, or a JSON Pointer, as a JSON Pointer.
func pointerOf(path string) (jsontext.Pointer, error) {
	pointer := jsontext.Pointer(path)
	if !strings.HasPrefix(path, "/") {
		pointer = ""
		for member := range strings.SplitSeq(path, ".") {
			if member == "" {
				return "", &UsageError{fmt.Sprintf("%q is no name of a value", path), "write members joined by dots: data.args.command"}
			}
			pointer = pointer.AppendToken(member)
		}
	}
	if !pointer.IsValid() {
		return "", &UsageError{fmt.Sprintf("%q is no JSON Pointer", path), "write / between members, ~1 for a slash in one and ~0 for ~"}
	}
	return pointer, nil
}

// isVariable reports whether a shell's variable may have that name. Those of
// capital letters are the shell's and the system's own: PATH, IFS, HOME.
func isVariable(name string) bool {
	for i, c := range name {
		small := c >= 'a' && c <= 'z' || c == '_'
		if !small && (i == 0 || !(c >= '0' && c <= '9' || c >= 'A' && c <= 'Z')) {
			return false
		}
	}
	return name != "" && name != "_"
}

func notAVariable(variable, name string) error {
	return &UsageError{
		fmt.Sprintf("%q is no name of a variable here: those of capital letters are the system's", variable),
		"name one that begins with a small letter: value=" + name,
	}
}

// textIn returns the scalar that the event has there, as text.
func (w *wanted) textIn(event protocol.RawMessage) (string, error) {
	value := event
	for member := range w.path.Tokens() {
		switch jsonspan.Kind(value) {
		case '{':
			value = jsonspan.Get(value, member)
		case '[':
			at, err := strconv.Atoi(member)
			list := jsonspan.Elements(value)
			if value = nil; err == nil && strconv.Itoa(at) == member && at >= 0 && at < len(list) {
				value = list[at]
			}
		default:
			value = nil
		}
		if value == nil {
			break
		}
	}
	switch {
	case len(value) == 0 || jsonspan.Kind(value) == 'n':
		if w.optional {
			return "", nil
		}
		if len(value) > 0 {
			return "", fmt.Errorf("%s is null in this event", w.name)
		}
		return "", fmt.Errorf("the event has no %s", w.name)
	case jsonspan.Kind(value) == '[' && w.isContent():
		texts, is := partTexts(value)
		if !is {
			return "", fmt.Errorf("%s is a list, and not one of parts", w.name)
		}
		return w.asText(strings.Join(texts, "\n"))
	case jsonspan.Kind(value) == '{' || jsonspan.Kind(value) == '[':
		return "", fmt.Errorf("%s is an object or a list, not one value", w.name)
	case jsonspan.Kind(value) != '"':
		return strings.TrimSpace(string(value)), nil
	}
	return w.asText(jsonspan.Text(value))
}

// isContent reports whether the value is the content of a message or a result. Args of a
// tool are its own, whatever their names are.
func (w *wanted) isContent() bool {
	path := slices.Collect(w.path.Tokens())
	return len(path) > 2 && path[0] == "data" && slices.Contains([]string{"result", "message", "messages"}, path[1]) && path[len(path)-1] == "content"
}

// partTexts returns the texts of a list of parts, of which a message's and a result's
// content is made. is is false if it is another list.
func partTexts(list protocol.RawMessage) (texts []string, is bool) {
	for _, part := range jsonspan.Elements(list) {
		if jsonspan.Kind(part) != '{' || jsonspan.Kind(jsonspan.Get(part, "type")) != '"' {
			return nil, false
		}
		if text := jsonspan.Get(part, "text"); jsonspan.Kind(text) == '"' {
			texts = append(texts, jsonspan.Text(text))
		}
		switch content := jsonspan.Get(part, "content"); jsonspan.Kind(content) {
		case '"':
			texts = append(texts, jsonspan.Text(content))
		case '[':
			inner, is := partTexts(content)
			if !is {
				return nil, false
			}
			texts = append(texts, inner...)
		}
	}
	return texts, true
}

// asText returns a text as a shell can take it.
func (w *wanted) asText(text string) (string, error) {
	if strings.ContainsRune(text, 0) {
		return "", fmt.Errorf("%s holds a NUL character, which a shell would leave out", w.name)
	}
	return text, nil
}

// quoted returns a text as a word of a POSIX shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
