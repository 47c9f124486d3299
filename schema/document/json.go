package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

type jsonReader struct {
	decoder *jsontext.Decoder
	text    []byte
	lines   lines
	nodes   budget
}

func parseJSON(text []byte) (*Node, error) {
	r := &jsonReader{
		// Keys that appear twice stay in the tree: one of them spoils the entry
		// it is in, not the whole file.
		decoder: jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true)),
		text:    text,
		lines:   lines{text: text},
	}
	root, err := r.value(0)
	if err != nil {
		return nil, err
	}
	if _, err := r.decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, &SyntaxError{r.lines.at(r.next()), "there is more text after the end of the document"}
	}
	return root, nil
}

// next returns the offset of the token to come.
func (r *jsonReader) next() int {
	i := int(r.decoder.InputOffset())
	for i < len(r.text) && strings.IndexByte(" \t\r\n,:", r.text[i]) >= 0 {
		i++
	}
	return i
}

func (r *jsonReader) token() (jsontext.Token, int, error) {
	at := r.next()
	token, err := r.decoder.ReadToken()
	if err != nil {
		return token, 0, r.syntaxError(err)
	}
	return token, r.lines.at(at), nil
}

func (r *jsonReader) syntaxError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &SyntaxError{r.lines.at(len(bytes.TrimRight(r.text, " \t\r\n"))), "the document ends before it is complete"}
	}
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		return &SyntaxError{LineAt(r.text, int(syntactic.ByteOffset)), clip(syntactic.Err.Error())}
	}
	return &SyntaxError{r.lines.at(r.next()), clip(err.Error())}
}

// clip keeps a message from quoting the rest of the file.
func clip(text string) string {
	const longest = 120
	for i, c := range text {
		if i > longest || c < ' ' {
			return text[:i] + "…"
		}
	}
	return text
}

func (r *jsonReader) value(depth int) (*Node, error) {
	token, line, err := r.token()
	if err != nil {
		return nil, err
	}
	if depth > maxDepth {
		return nil, tooDeep(line)
	}
	if err := r.nodes.spend(line); err != nil {
		return nil, err
	}
	switch token.Kind() {
	case 'n':
		return &Node{Kind: Null, Line: line}, nil
	case 't', 'f':
		return &Node{Kind: Bool, Text: token.String(), Line: line}, nil
	case '0':
		return &Node{Kind: Number, Text: token.String(), Line: line}, nil
	case '"':
		return &Node{Kind: String, Text: token.String(), Line: line}, nil
	case '[':
		return r.list(&Node{Kind: List, Line: line}, depth)
	default:
		return r.object(&Node{Kind: Object, Line: line}, depth)
	}
}

func (r *jsonReader) list(n *Node, depth int) (*Node, error) {
	for r.decoder.PeekKind() != ']' {
		item, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		n.Items = append(n.Items, item)
	}
	_, _, err := r.token()
	return n, err
}

func (r *jsonReader) object(n *Node, depth int) (*Node, error) {
	for r.decoder.PeekKind() != '}' {
		key, line, err := r.token()
		if err != nil {
			return nil, err
		}
		// The token's text is only good until the next one is read.
		name := strings.Clone(key.String())
		value, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		n.Members = append(n.Members, Member{name, line, value})
	}
	_, _, err := r.token()
	return n, err
}

func tooDeep(line int) error {
	return &SyntaxError{line, fmt.Sprintf("nested more than %d levels deep", maxDepth)}
}
