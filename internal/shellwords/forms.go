package shellwords

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// filler works out what words come to.
type filler struct{ *reader }

// maxForms are what the words of one command may come to, and of one word.
const maxForms = 32

// forms returns what the words of a command come to with its braces and the variables of
// the line worked out: one form for each value that a variable may have. Of what cannot
// be worked out there is one form, with words that are not literal.
func (r filler) forms(args []*syntax.Word) [][]Word {
	forms := [][]Word{nil}
	for i, arg := range args {
		ofWord, _ := r.formsOf(arg)
		if len(forms)*len(ofWord) > maxForms {
			ofWord = [][]Word{{r.word(arg)}}
		}
		var next [][]Word
		for _, form := range forms {
			for _, words := range ofWord {
				next = append(next, slices.Concat(form, words))
			}
		}
		if forms = next; i == 0 && len(ofWord) == 1 && len(ofWord[0]) == 1 && !ofWord[0][0].Literal {
			forms = [][]Word{{r.program(arg)}}
		} else if i == 0 && len(ofWord) == 1 && len(ofWord[0]) == 1 {
			forms[0][0] = r.programOr(arg, ofWord[0][0])
		}
	}
	return forms
}

// worked returns the forms of a command where they show more than its words do as they are
// written.
func (r filler) worked(args []*syntax.Word, asWritten []Word) [][]Word {
	if !slices.ContainsFunc(asWritten, isNotLiteral) {
		return nil
	}
	forms := r.forms(args)
	if len(forms) == 1 && slices.Equal(texts(forms[0]), texts(asWritten)) {
		return nil
	}
	return slices.DeleteFunc(forms, func(words []Word) bool { return len(words) == 0 })
}

// all returns every form of a command.
func (c *Command) all() [][]Word {
	if c.forms == nil {
		return [][]Word{c.Words}
	}
	return c.forms
}

// programOr returns the first word of a command, of which a form is known.
func (r filler) programOr(word *syntax.Word, form Word) Word {
	if w := r.program(word); w.Literal {
		return w
	}
	return form
}

// formsOf returns what a word comes to, each form as the words it becomes, and whether
// all of that is known but for the names of files.
func (r filler) formsOf(word *syntax.Word) (forms [][]Word, known bool) {
	if hasBraces(word) {
		return r.braces(word)
	}
	w := r.word(word)
	if w.Literal || r.settled == nil && !strings.ContainsAny(w.Text, "`(") {
		return [][]Word{{w}}, w.Literal || isGlob(word)
	}
	return r.filled(word, w)
}

// isGlob reports whether a word is literal but for a pattern of names of files.
func isGlob(word *syntax.Word) bool {
	_, literal := unquoted(word.Parts, false)
	return literal && !hasTilde(word) && !hasBraces(word)
}

// braces works {a,b} out.
func (r filler) braces(word *syntax.Word) (forms [][]Word, known bool) {
	asItIs := [][]Word{{r.word(word)}}
	commas, groups := 0, 0
	for _, part := range word.Parts {
		if lit, is := part.(*syntax.Lit); is {
			commas, groups = commas+strings.Count(lit.Value, ","), groups+strings.Count(lit.Value, "{")
			if strings.Contains(lit.Value, "..") && strings.Contains(lit.Value, "{") {
				groups = maxForms
			}
		}
	}
	copied := *word
	copied.Parts = slices.Clone(word.Parts)
	if commas > 16 || groups > 3 || strings.Contains(word.Lit(), `\`) || !syntax.SplitBraces(&copied) {
		return asItIs, false
	}
	forms, known = [][]Word{nil}, true
	for _, one := range expand.Braces(&copied) {
		if len(one.Parts) == 0 {
			continue
		}
		inner, all := [][]Word{{r.plainOrGlob(one.Lit())}}, true
		if one.Lit() == "" || hasTilde(one) {
			inner, all = r.formsOf(one)
		}
		known = known && all
		if len(forms)*len(inner) > maxForms || hasBraces(one) {
			return asItIs, false
		}
		var next [][]Word
		for _, form := range forms {
			for _, words := range inner {
				next = append(next, slices.Concat(form, words))
			}
		}
		forms = next
	}
	return forms, known
}

// filled puts the values of variables into a word.
func (r filler) filled(word *syntax.Word, asWritten Word) (forms [][]Word, known bool) {
	asItIs := [][]Word{{asWritten}}
	if hasTilde(word) {
		return asItIs, false
	}
	texts, known := r.texts(word.Parts, false)
	if !known {
		return asItIs, isGlob(word)
	}
	whole := len(word.Parts) == 1
	for _, text := range texts {
		switch {
		case text.bare && whole:
			var words []Word
			for _, field := range strings.Fields(text.value) {
				words = append(words, r.plainOrGlob(field))
			}
			forms = append(forms, words)
		case text.bare && strings.ContainsAny(text.value, " \t\n"):
			return asItIs, false
		case text.bare:
			forms = append(forms, []Word{r.plainOrGlob(text.value)})
		default:
			forms = append(forms, []Word{{Text: text.value, Literal: true}})
		}
	}
	return forms, true
}

// filledText is a word with the values of variables in it.
type filledText struct {
	value string
	bare  bool // the shell splits it, and takes it for a glob
}

// texts puts the values of variables into a word's parts.
func (r filler) texts(parts []syntax.WordPart, quoted bool) ([]filledText, bool) {
	all := []filledText{{}}
	join := func(more []filledText) bool {
		if len(all)*len(more) > maxForms {
			return false
		}
		var next []filledText
		for _, a := range all {
			for _, m := range more {
				next = append(next, filledText{a.value + m.value, a.bare || m.bare})
			}
		}
		all = next
		return true
	}
	for _, part := range parts {
		var more []filledText
		switch n := part.(type) {
		case *syntax.DblQuoted:
			inner, known := r.texts(n.Parts, true)
			if !known || n.Dollar {
				return nil, false
			}
			more = inner
		case *syntax.ParamExp:
			if !isPlain(n) {
				return nil, false
			}
			values := r.settled.at(n.Param.Value, n.Pos().Offset())
			for _, value := range values {
				if !value.Literal {
					return nil, false
				}
				bare := !quoted && (strings.ContainsAny(value.Text, " \t\n*?[") || value.Text == "")
				more = append(more, filledText{value.Text, bare})
			}
			if len(values) == 0 {
				return nil, false
			}
		case *syntax.CmdSubst:
			if len(n.Stmts) != 1 {
				return nil, false
			}
			text, known := inputs(r).prints(n.Stmts[0])
			if text = strings.TrimRight(text, "\n"); !known {
				return nil, false
			}
			more = []filledText{{text, !quoted && (strings.ContainsAny(text, " \t\n*?[") || text == "")}}
		default:
			if lit, is := part.(*syntax.Lit); is && !quoted && hasGlob(&syntax.Word{Parts: []syntax.WordPart{lit}}) {
				return nil, false
			}
			text, literal := unquoted([]syntax.WordPart{part}, quoted)
			if !literal {
				return nil, false
			}
			more = []filledText{{value: text}}
		}
		if !join(more) {
			return nil, false
		}
	}
	return all, true
}

// isPlain reports whether a parameter is $X or ${X}.
func isPlain(p *syntax.ParamExp) bool {
	return p.Param != nil && !p.Excl && !p.Length && !p.Width && p.Index == nil && p.Slice == nil && p.Repl == nil && p.Exp == nil && p.Names == 0
}

// plainOrGlob returns a part of a value as a word.
func (r filler) plainOrGlob(text string) Word {
	if !strings.ContainsAny(text, "*?[") {
		return Word{Text: text, Literal: true}
	}
	return r.found.unknown(text, &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: text}}})
}
