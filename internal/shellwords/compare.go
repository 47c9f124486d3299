package shellwords

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/hookd-dev/hookd/protocol/patterns"
)

// Answer says whether a pattern matches.
type Answer int

// The answers of [Line.Compare].
const (
	No        Answer = iota
	Undecided        // it may match, and only shows when the line runs
	Yes
)

// Compare compares a pattern with each command of a line, and with the line as a
// whole. It returns the command that decided, nil for No. A pattern without * and ?
// also matches a command with more words: "git push" matches "git push origin".
func (l *Line) Compare(p patterns.Pattern) (Answer, *Command) {
	starts := l.mayStart(&p)
	for i := range l.Commands {
		if c := &l.Commands[i]; c.matches(&p, starts) {
			return Yes, c
		}
	}
	for _, text := range l.whole {
		if head, _, _ := strings.Cut(text, " "); p.MayStart(head, false) && matchesText(&p, text) {
			return Yes, &Command{Text: l.Text}
		}
	}
	if l.Err != nil {
		return Undecided, &Command{Text: l.Text}
	}
	for i := range l.Commands {
		if c := &l.Commands[i]; c.mayMatch(&p) {
			return Undecided, c
		}
	}
	return No, nil
}

// Admits reports whether every command that the shell of the line runs itself
// matches one of the patterns, as a whole and with the assignments before it. One
// that writes files matches only a pattern with a > for each. Words that are not
// literal must match whatever they turn out to be, except that a pattern without *
// and ? may name them as they are written. If the answer is no and the line can be
// read, the command at fault is returned.
func (l *Line) Admits(list []patterns.Pattern) (bool, *Command) {
	exactly := func(p patterns.Pattern) bool { return p.Exact && p.Literal == l.Text }
	switch {
	case slices.ContainsFunc(list, exactly):
		return true, nil
	case l.Err != nil:
		return false, nil
	}
	for i := range l.Commands {
		if c := &l.Commands[i]; c.later || c.Unclear != "" && !c.granted || !c.Given && !c.admitted(list) {
			return false, c
		}
	}
	return true, nil
}

// maxHeads of a line are looked at together; it has few.
const maxHeads = 64

// mayStart reports for each first word in the line whether a pattern may match a text that
// begins with it.
func (l *Line) mayStart(p *patterns.Pattern) (starts [maxHeads + 1]bool) {
	for i, head := range l.heads {
		starts[i] = p.MayStart(head, false)
	}
	starts[maxHeads] = true
	return starts
}

// count notes the first words of what patterns are compared with.
func (l *Line) count() {
	at := map[string]int{}
	for i := range l.Commands {
		c := &l.Commands[i]
		c.heads = make([]uint8, len(c.spellings))
		for k, text := range c.spellings {
			head, _, _ := strings.Cut(text, " ")
			n, known := at[head]
			if n = min(n, maxHeads); !known {
				if n = min(len(l.heads), maxHeads); n < maxHeads {
					l.heads = append(l.heads, head)
				}
				at[head] = n
			}
			c.heads[k] = uint8(n)
		}
	}
}

// matches reports whether a pattern matches one of a command's spellings.
func (c *Command) matches(p *patterns.Pattern, starts [maxHeads + 1]bool) bool {
	for i, head := range c.heads {
		if starts[head] && matchesText(p, c.spellings[i]) {
			return true
		}
	}
	return false
}

func matchesText(p *patterns.Pattern, text string) bool {
	if !p.Exact {
		return p.Match(text)
	}
	rest, begins := strings.CutPrefix(text, spaced(p.Literal))
	return begins && (rest == "" || rest[0] == ' ') || p.Match(text)
}

// spaced returns a text with one blank between its words and none around them.
func spaced(text string) string {
	if !strings.Contains(text, "  ") && !strings.ContainsAny(text, "\t\n\v\f\r\u0085\u00a0") && strings.TrimSpace(text) == text {
		return text
	}
	return strings.Join(strings.Fields(text), " ")
}

// spell works out what patterns are compared with.
func (c *Command) spell() {
	for _, words := range c.all() {
		if len(words) > 0 {
			c.spellings = append(c.spellings, spellings(words)...)
			if cleaned := cleaned(words); cleaned != nil {
				c.spellings = append(c.spellings, spellings(cleaned)...)
			}
			c.unknown = append(c.unknown, sketches(words)...)
		}
		for _, folder := range c.elsewhere {
			if moved := moved(words, folder); moved != nil {
				c.spellings = append(c.spellings, spellings(moved)...)
			}
		}
	}
	for _, file := range c.readsFrom {
		c.spellFile("<", file)
	}
	for _, write := range c.Writes {
		c.spellFile(">", write.Target)
	}
	const longFrom = 2 << 10
	if c.From != "" && len(c.From) < longFrom && len(c.Words) > 0 && c.Words[0].Literal {
		c.spellings = append(c.spellings, c.From+" | "+programName(c.Words[0]))
	}
	if c.in != nil && len(c.Words) > 0 && (c.in.known || c.in.text != "") && c.Words[0].Literal {
		text := " < " + c.in.text
		for _, program := range programsOf(c.Words[0]) {
			c.spellings = append(c.spellings, program+text)
		}
	}
	if !slices.Contains(c.spellings, c.Text) {
		c.spellings = append(c.spellings, c.Text)
	}
}

// spellFile adds a redirection as if it were a command: > FILE.
func (c *Command) spellFile(operator string, file Word) {
	words := []Word{{Text: operator, Literal: true}, file}
	c.spellings = append(c.spellings, operator+" "+file.Text)
	if cleaned := cleaned(words); cleaned != nil {
		c.spellings = append(c.spellings, operator+" "+cleaned[1].Text)
	}
	for _, folder := range c.elsewhere {
		if moved := moved(words, folder); moved != nil {
			c.spellings = append(c.spellings, operator+" "+moved[1].Text)
		}
	}
	c.unknown = append(c.unknown, sketches(words)...)
}

// cleaned returns words with the paths among them written as short as they can be: a/../b
// is b, ./x/ is x. It is nil if all are.
func cleaned(words []Word) (list []Word) {
	for i, word := range words {
		text := word.Text
		if i == 0 || text == "" || text[0] == '-' || !strings.Contains(text, "/") || strings.Contains(text, "://") || strings.ContainsAny(text, "$`'\"\\") {
			continue
		}
		if short := path.Clean(text); short != text {
			if list == nil {
				list = slices.Clone(words)
			}
			list[i].Text = short
		}
	}
	return list
}

// spellings are words with the folder of the program and without it, and without
// the options before the first word that is none: git -C . push is git push.
func spellings(words []Word) (all []string) {
	programs := programsOf(words[0])
	places, _ := afterOptions(words, false)
	for _, at := range places {
		rest := strings.Join(texts(words[at:]), " ")
		for _, program := range programs {
			all = append(all, strings.TrimSuffix(program+" "+rest, " "))
		}
	}
	return all
}

// programsOf returns the names by which a program is known.
func programsOf(word Word) []string {
	programs := []string{word.Text}
	if base := path.Base(word.Text); word.base() == "" && base != word.Text {
		programs = append(programs, base)
	} else if word.base() != "" {
		programs = append(programs, word.base())
	}
	return programs
}

// sketch is what is known of a command of which not all words are literal.
type sketch struct {
	begins string // how each of its spellings begins: up to the first part that is not known
	pieces [2][]patterns.Piece
}

// sketches returns what is known of words: there is nothing where all are literal, unless there
// are more options than are looked past.
func sketches(words []Word) (all []sketch) {
	places, more := afterOptions(words, true)
	if !slices.ContainsFunc(words, isNotLiteral) {
		if more {
			for _, name := range programsOf(words[0]) {
				s := sketch{pieces: [2][]patterns.Piece{{{Text: name}}, {{Any: patterns.Anything}}}}
				s.begins = beginning(s.pieces)
				all = append(all, s)
			}
		}
		return all
	}
	if more || len(places) > maxOptions {
		return []sketch{{pieces: [2][]patterns.Piece{{{Any: patterns.Anything}}}}}
	}
	var rest []patterns.Piece
	from := make([]int, len(words)+1) // where the pieces of a word begin
	for i, word := range words {
		from[i] = len(rest)
		if i > 0 {
			rest = append(rest, word.after()...)
		}
	}
	from[len(words)] = len(rest)
	program := [][]patterns.Piece{words[0].sketched()}
	if base := words[0].basePieces(); base != nil {
		program = append(program, base)
	}
	if words[0].Literal || words[0].base() != "" {
		for _, name := range programsOf(words[0])[1:] {
			program = append(program, []patterns.Piece{{Text: name}})
		}
	}
	for _, at := range places {
		for _, first := range program {
			s := sketch{pieces: [2][]patterns.Piece{first, rest[from[at]:]}}
			s.begins = beginning(s.pieces)
			all = append(all, s)
		}
	}
	return all
}

// beginning is the text that pieces always begin with.
func beginning(lists [2][]patterns.Piece) string {
	var b strings.Builder
	for _, list := range lists {
		for _, piece := range list {
			if piece.Any != patterns.None || piece.Again > 0 {
				return b.String()
			}
			b.WriteString(piece.Text)
		}
	}
	return b.String()
}

// afterOptions are the places where the words after a command's options may begin.
// Whether an option takes the next word as its value is not known. With unknown, a word
// that may turn out to be an option counts as one. Places after the first 2*maxOptions words
// are not looked for; more says that there are such.
func afterOptions(words []Word, unknown bool) (places []int, more bool) {
	begins := map[int]bool{1: true}
	for at := 1; at <= len(words); at++ {
		if !begins[at] {
			continue
		}
		if at > 2*maxOptions {
			return places, true
		}
		places = append(places, at)
		if at < len(words) && (strings.HasPrefix(words[at].Text, "-") || unknown && words[at].mayBeOption()) {
			begins[at+1], begins[at+2] = true, true
		}
	}
	return places, false
}

// mayMatch reports whether a command may turn out to match a pattern when it runs.
func (c *Command) mayMatch(p *patterns.Pattern) bool {
	if c.Unclear != "" {
		return true
	}
	literal := p.Literal
	if p.Exact {
		literal = spaced(literal)
	}
	for i := range c.unknown {
		s := &c.unknown[i]
		n := min(len(s.begins), len(literal))
		head, _, whole := strings.Cut(s.begins, " ")
		if s.begins[:n] == literal[:n] && p.MayStart(head, !whole) && p.MayMatch(s.pieces[:]...) {
			return true
		}
	}
	return false
}

// admitted reports whether one of the patterns matches a command, whatever its words
// that are not literal turn out to be.
func (c *Command) admitted(list []patterns.Pattern) bool {
	if len(c.Words) > 0 && !c.Words[0].Literal {
		return false
	}
	return slices.ContainsFunc(list, func(p patterns.Pattern) bool {
		if strings.Count(p.Text, ">") < len(c.Writes) {
			return false
		}
		if p.Exact || c.literal() {
			return p.Match(c.spelled(func(w Word) string { return w.Text }))
		}
		return !slices.ContainsFunc(anything(), func(value string) bool {
			return !p.Match(c.spelled(func(w Word) string {
				if w.Literal {
					return w.Text
				}
				return assigns().FindString(w.Text) + value
			}))
		})
	})
}

// anything are values to try for a word of which nothing is known: a pattern that
// matches with each of them has a * for it.
var anything = sync.OnceValue(func() []string {
	var ascii strings.Builder
	for c := range byte(128) {
		ascii.WriteByte(c)
	}
	return []string{"", "\x01", ascii.String()}
})

func (c *Command) literal() bool {
	return !slices.ContainsFunc(c.Sets, isNotLiteral) && !slices.ContainsFunc(c.Words, isNotLiteral) &&
		!slices.ContainsFunc(c.Writes, func(w Write) bool { return !w.Target.Literal })
}

// spelled returns a command as one text: what it sets, its words, what it writes.
func (c *Command) spelled(text func(Word) string) string {
	var parts []string
	for _, w := range slices.Concat(c.Sets, c.Words) {
		parts = append(parts, text(w))
	}
	for _, w := range c.Writes {
		parts = append(parts, w.Operator+" "+text(w.Target))
	}
	return strings.Join(parts, " ")
}
