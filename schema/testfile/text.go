package testfile

import (
	"regexp"
	"strings"

	"github.com/hookd-dev/hookd/schema/document"
)

// Text is a text that must come out: exactly this one, one that contains it, or one that
// fits an expression.
type Text struct {
	form     textForm
	text     string
	pattern  *regexp.Regexp
	asListed string
}

type textForm int

const (
	exact textForm = iota
	contains
	fits
)

// Fits reports whether a text is one that is wanted. White space around it does not count.
func (t *Text) Fits(got string) bool {
	switch t.form {
	case contains:
		return strings.Contains(got, t.text)
	case fits:
		return t.pattern.MatchString(got)
	}
	return strings.TrimSpace(got) == strings.TrimSpace(t.text)
}

// String says what is wanted, as a person reads it beside what came.
func (t *Text) String() string { return t.asListed }

// text reads a text that must come out, nil if there is none.
func (r *reader) text(n *document.Node, path, what string) *Text {
	switch {
	case n == nil:
		return nil
	case n.Kind == document.String && len(n.Text) > 2 && n.Text[0] == '/' && n.Text[len(n.Text)-1] == '/':
		pattern, err := regexp.Compile(n.Text[1 : len(n.Text)-1])
		if err != nil {
			r.wrong(n, path, what+" is no RE2 expression: "+err.Error(), "correct it, or write { contains: … } for plain text")
			return nil
		}
		return &Text{form: fits, pattern: pattern, asListed: n.Text}
	case n.Kind == document.String:
		return &Text{text: n.Text, asListed: n.Text}
	case n.Kind == document.Object:
		part := r.members(n, path, []Key{{Name: "contains"}})["contains"]
		if text, is := r.string(part, path, "contains"); is {
			return &Text{form: contains, text: text, asListed: "contains: " + text}
		}
		if part == nil {
			r.wrong(n, path, what+" does not say what it contains", "write { contains: \"…\" }")
		}
		return nil
	}
	r.wrong(n, path, what+" is "+n.Kind.String()+", not a text", `write the whole text, { contains: "a part" }, or "/an RE2 expression/"`)
	return nil
}
