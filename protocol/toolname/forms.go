package toolname

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// toOurs returns a value in the form that hookd has. A command that is a text already is
// taken as it is.
func (f Form) toOurs(value protocol.RawMessage) (protocol.RawMessage, error) {
	switch f {
	case Milliseconds:
		return scaled(value, 1.0/1000), nil
	case Patch:
		if jsonspan.Kind(value) != '"' {
			return nil, fmt.Errorf("it is %s where a patch is expected, and so hooks could not see what it changes", jsonspan.KindName(value))
		}
	case Words, Lines:
		if jsonspan.Kind(value) == '"' {
			return value, nil
		}
		list, err := texts(value)
		if err != nil {
			return nil, err
		}
		if f == Lines {
			return jsonspan.Quote(strings.Join(list, "\n")), nil
		}
		return jsonspan.Quote(commandLine(list)), nil
	}
	return value, nil
}

// back returns a value in the agent's form. was is the value that the agent's own call
// had, nil if it had none.
func (f Form) back(was, value protocol.RawMessage) (protocol.RawMessage, error) {
	if was != nil {
		if same, err := f.toOurs(was); err == nil && jsonspan.Equal(same, value) {
			return was, nil
		}
	}
	switch f {
	case Milliseconds:
		return scaled(value, 1000), nil
	case Words, Lines:
		if was != nil && jsonspan.Kind(was) == '"' {
			return value, nil
		}
		if jsonspan.Kind(value) != '"' {
			return nil, fmt.Errorf("it is %s where a text is expected", jsonspan.KindName(value))
		}
		line := jsonspan.Text(value)
		if f == Lines {
			return quoted(line), nil
		}
		list, _ := texts(was)
		if isScript(list) {
			return quoted(list[0], list[1], line), nil
		}
		return quoted("bash", "-lc", line), nil
	}
	return value, nil
}

// scaled is a number times a factor; what is no number stays.
func scaled(value protocol.RawMessage, factor float64) protocol.RawMessage {
	if jsonspan.Kind(value) != '0' {
		return value
	}
	n, err := strconv.ParseFloat(string(jsonspan.Trim(value)), 64)
	if err != nil {
		return value
	}
	if factor < 1 {
		n /= 1 / factor // 1500 / 1000 is exact where 1500 * 0.001 is not
	} else {
		n *= factor
	}
	text, err := json.Marshal(n)
	if err != nil {
		return value
	}
	return text
}

var errNotTexts = errors.New("it is no list of texts, and so hooks could not see what is called")

func texts(list protocol.RawMessage) ([]string, error) {
	if jsonspan.Kind(list) != '[' {
		return nil, errNotTexts
	}
	var out []string
	for _, each := range jsonspan.Elements(list) {
		if jsonspan.Kind(each) != '"' {
			return nil, errNotTexts
		}
		out = append(out, jsonspan.Text(each))
	}
	return out, nil
}

func quoted(texts ...string) protocol.RawMessage {
	list := make([]protocol.RawMessage, len(texts))
	for i, text := range texts {
		list[i] = jsonspan.Quote(text)
	}
	return jsonspan.JoinList(list)
}

// isScript reports whether words start a shell with nothing but a script.
func isScript(words []string) bool {
	return len(words) == 3 && slices.Contains([]string{"sh", "bash", "zsh", "dash"}, path.Base(words[0])) && slices.Contains([]string{"-c", "-lc"}, words[1])
}

// commandLine is the command line that does the same as a list of words: the script
// itself where the words only start a shell for it, else the words, quoted.
func commandLine(words []string) string {
	if isScript(words) {
		return words[2]
	}
	line := make([]string, len(words))
	for i, word := range words {
		line[i] = shellQuote(word)
	}
	return strings.Join(line, " ")
}

func shellQuote(word string) string {
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./:,@%+"
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
