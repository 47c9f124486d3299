package discover

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/schema"
)

// headerLines is how many lines of a file are read for a header, so that a long script
// costs nothing and text far below cannot describe the hook.
const headerLines = 40

// headerFault is a part of a header line that is no key=value pair.
type headerFault struct {
	Line    int    // 1-based
	Key     string // as far as one can be made out
	Message string
}

// header is a hook's description as its comment header gives it.
type header struct {
	pairs  []schema.Pair
	faults []headerFault
	late   int // a header line after the last one that is read, 0 = none

	misspelt     string // the word of a line that was probably meant to be a header line, "" = none
	misspeltLine int
}

// parseHeader reads the hook: lines at the begin of a file. head is the file's
// first bytes; whole says that the file ends with them. What the keys
// and values mean is checked by the schema.
//
// Any fault rejects the hook: a guard whose header is read in part would guard
// in part. The rest is read all the same, to find out what the hook was meant for.
func parseHeader(head []byte, whole bool) header {
	var h header
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	for n := 1; len(head) > 0; n++ {
		line, rest, ended := bytes.Cut(head, []byte("\n"))
		head = rest
		text, ok := headerText(line)
		switch {
		case !ok:
			if word := misspeltHeader(line); word != "" && n <= headerLines && h.misspelt == "" {
				h.misspelt, h.misspeltLine = word, n
			}
		case n > headerLines:
			h.late = n
			return h
		case !ended && !whole:
			h.fault(n, "", fmt.Sprintf("the header line goes past the first %d bytes", files.HeadLimit))
		case !utf8.ValidString(text):
			h.fault(n, "", "the header line is not valid UTF-8")
		case strings.Trim(text, " \t") == "":
			h.fault(n, "", "nothing follows hook:; write key=value pairs")
		default:
			h.addLine(text, n)
		}
	}
	return h
}

func (h *header) fault(line int, key, message string) {
	h.faults = append(h.faults, headerFault{line, key, message})
}

// described reports whether the file has a header at all.
func (h *header) described() bool { return len(h.pairs)+len(h.faults) > 0 }

// headerText returns what follows "hook:" if the line is a header line.
func headerText(line []byte) (string, bool) {
	return strings.CutPrefix(commentText(line), "hook:")
}

// commentText returns what a line says that is a comment, "" of any other.
func commentText(line []byte) string {
	said := strings.TrimLeft(strings.TrimSuffix(string(line), "\r"), " \t")
	for _, mark := range []string{"#", "//", "--", ";", "%", "REM"} {
		if after, ok := strings.CutPrefix(said, mark); ok {
			return strings.TrimLeft(after, " \t")
		}
	}
	return ""
}

// misspeltHeader returns the word before the colon of a comment that names events as a header
// does and begins with nearly the word hook; "" of any other line.
func misspeltHeader(line []byte) string {
	word, rest, ok := strings.Cut(commentText(line), ":")
	word = strings.TrimRight(word, " \t")
	if !ok || !strings.Contains(rest, "events=") || text.Nearest(word, []string{"hook"}) == "" {
		return ""
	}
	return word
}

func (h *header) addLine(text string, line int) {
	for text = strings.TrimLeft(text, " \t"); text != ""; text = strings.TrimLeft(text, " \t") {
		key, value, rest, problem := cutPair(text)
		if problem != "" {
			h.fault(line, key, problem)
		} else {
			h.pairs = append(h.pairs, schema.Pair{Key: key, Value: value, Line: line})
		}
		text = rest
	}
}

// cutPair takes one key=value off the front of text. With a problem, rest is
// where reading may go on.
func cutPair(text string) (key, value, rest, problem string) {
	end := strings.IndexAny(text, "= \t")
	if end <= 0 || text[end] != '=' {
		shown, rest := cutWord(text)
		return "", "", rest, fmt.Sprintf("%q is no key=value pair", shown)
	}
	key, text = text[:end], text[end+1:]
	if !strings.HasPrefix(text, `"`) {
		value, rest = cutWord(text)
		switch {
		case value == "":
			problem = key + " has no value"
		case strings.Contains(value, `"`):
			problem = key + ": a quote inside a bare value; put the whole value in double quotes"
		}
		return key, value, rest, problem
	}
	end = closingQuote(text)
	if end < 0 {
		return key, "", "", key + ": the closing quote is missing"
	}
	quoted, behind := text[:end+1], text[end+1:]
	ragged, rest := cutWord(behind)
	unquoted, err := jsontext.AppendUnquote(nil, quoted)
	switch {
	case err != nil:
		return key, "", rest, fmt.Sprintf("%s: not a JSON string: %v", key, err)
	case ragged != "":
		return key, "", rest, key + ": something follows the closing quote"
	}
	return key, string(unquoted), rest, ""
}

func cutWord(text string) (word, rest string) {
	if end := strings.IndexAny(text, " \t"); end >= 0 {
		return text[:end], text[end:]
	}
	return text, ""
}

// closingQuote returns the index of the quote that ends the string that text
// begins with, or -1.
func closingQuote(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}
