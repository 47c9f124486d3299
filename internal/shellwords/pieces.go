package shellwords

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hookd-dev/hookd/protocol/patterns"
	"mvdan.cc/sh/v3/syntax"
)

// unknown returns a word that is not literal, with what of it is known: build/*.o begins
// with build/ and ends in .o, whatever files there are.
func (f *found) unknown(written string, word *syntax.Word) Word {
	w := Word{Text: written}
	if hasBraces(word) || slices.ContainsFunc(word.Parts, opensBracket) {
		return w
	}
	p := pieces{found: f}
	p.parts(word.Parts, false)
	if p.add(); hasTilde(word) && len(p.list) > 0 { // a folder in place of what stands before the slash
		_, rest, deeper := strings.Cut(p.list[0].Text, "/")
		p.list[0].Text = "/" + rest
		home := patterns.Piece{Any: patterns.Folder}
		if f.sets["HOME"] || f.sets[""] {
			home.Any = patterns.Anything
		}
		p.list = append([]patterns.Piece{{Text: "/"}, home}, p.list...)
		if !deeper || written[0] == '~' && len(written) > 1 && (written[1] == '+' || written[1] == '-') {
			p.list = []patterns.Piece{{Any: patterns.Anything}}
		}
	}
	if len(p.list) > 0 {
		w.known = &known{pieces: p.list, splits: p.splits}
	}
	return w
}

// opensBracket reports whether a part of a word has a [ that another part closes.
func opensBracket(part syntax.WordPart) bool {
	lit, is := part.(*syntax.Lit)
	return is && strings.LastIndexByte(lit.Value, '[') > strings.LastIndexByte(lit.Value, ']')
}

// sketched returns what is known of a word as the first of a command.
func (w *Word) sketched() []patterns.Piece {
	switch {
	case w.Literal:
		return []patterns.Piece{{Text: w.Text}}
	case w.known == nil:
		return []patterns.Piece{{Any: patterns.Anything}}
	case w.known.splits:
		return w.known.pieces
	}
	var list []patterns.Piece
	for _, piece := range w.known.pieces { // it is one word, with no blank in the name of a program
		if piece.Any == patterns.Anything {
			piece.Any = patterns.Word
		}
		list = append(list, piece)
	}
	return list
}

// mayBeOption reports whether a word that is not literal may begin with a -.
func (w *Word) mayBeOption() bool {
	if w.Literal {
		return false
	}
	return w.known == nil || w.known.pieces[0].Any != patterns.None && w.known.pieces[0].Any != patterns.Folder || strings.HasPrefix(w.known.pieces[0].Text, "-")
}

// basePieces returns what is known of the name of a program without its folder: /bin/r?
// is r?. It is nil where that is nothing, or all.
func (w *Word) basePieces() []patterns.Piece {
	if w.known == nil || w.known.base != "" {
		return nil
	}
	for i := len(w.known.pieces) - 1; i >= 0; i-- {
		piece := w.known.pieces[i]
		if last := strings.LastIndexByte(piece.Text, '/'); last >= 0 {
			return append([]patterns.Piece{{Text: piece.Text[last+1:]}}, w.known.pieces[i+1:]...)
		}
	}
	return nil
}

// after returns what is known of a word that stands after another. One that may come to
// nothing has no blank of its own before it.
func (w *Word) after() []patterns.Piece {
	switch {
	case w.Literal:
		return []patterns.Piece{{Text: " " + w.Text}}
	case w.known == nil:
		return []patterns.Piece{{Any: patterns.Anything}}
	case w.known.splits && w.known.pieces[0].Any == patterns.Anything && len(w.known.pieces) == 1:
		return w.known.pieces
	}
	list := slices.Concat([]patterns.Piece{{Text: " "}}, w.known.pieces)
	if w.known.splits {
		list = append(list, patterns.Piece{Again: len(w.known.pieces)})
	}
	return list
}

// pieces collects what is known of a word.
type pieces struct {
	found  *found
	list   []patterns.Piece
	text   strings.Builder
	splits bool
}

func (p *pieces) add() {
	if p.text.Len() > 0 {
		p.list = append(p.list, patterns.Piece{Text: p.text.String()})
		p.text.Reset()
	}
}

func (p *pieces) any(class patterns.Class) {
	p.add()
	p.list = append(p.list, patterns.Piece{Any: class})
}

func (p *pieces) parts(parts []syntax.WordPart, quoted bool) {
	for _, part := range parts {
		switch n := part.(type) {
		case *syntax.Lit:
			if quoted {
				p.text.WriteString(unescape(n.Value, "$`\"\\\n"))
			} else {
				p.glob(n.Value)
			}
		case *syntax.SglQuoted:
			if n.Dollar {
				p.text.WriteString(escapes(n.Value))
			} else {
				p.text.WriteString(n.Value)
			}
		case *syntax.DblQuoted:
			if n.Dollar { // it may be translated
				p.any(patterns.Anything)
			} else {
				p.parts(n.Parts, true)
			}
		case *syntax.ArithmExp:
			p.any(patterns.Name)
		case *syntax.ExtGlob:
			p.any(patterns.Name)
			p.splits = true
		case *syntax.ParamExp:
			class := patterns.Anything
			if n.Short && n.Param != nil && (n.Param.Value == "?" || n.Param.Value == "#" || n.Param.Value == "$" || n.Param.Value == "!") {
				class = patterns.Name // a number
			} else if isPlain(n) && p.isFolder(n.Param.Value) {
				p.text.WriteByte('/')
				p.add()
				p.list = append(p.list, patterns.Piece{Any: patterns.Path, Some: true})
				p.splits = p.splits || !quoted
				continue
			}
			p.any(class)
			p.splits = p.splits || !quoted || n.Param != nil && n.Param.Value == "@" || n.Index != nil
		default:
			p.any(patterns.Anything)
			p.splits = p.splits || !quoted
		}
	}
}

// isFolder reports whether a variable holds the path of a folder, as nothing in the line
// gives it another value.
func (p *pieces) isFolder(name string) bool {
	return slices.Contains([]string{"HOME", "PWD", "OLDPWD", "TMPDIR"}, name) && !p.found.sets[""] && !p.found.sets[name]
}

// glob adds a text in which *, ? and [ stand for what the names of files have there.
func (p *pieces) glob(text string) {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			if i++; i < len(text) && text[i] != '\n' {
				p.text.WriteByte(text[i])
			}
		case '*', '?', '[':
			p.splits = true
			if strings.HasPrefix(text[i:], "**") { // as deep as it likes
				p.any(patterns.Anything)
				i++
				continue
			}
			p.any(patterns.Name)
			if end := strings.IndexByte(text[i:], ']'); text[i] == '[' && end > 0 {
				i += end
			}
		default:
			p.text.WriteByte(text[i])
		}
	}
}

// escapes works out the escapes in $'…'.
func escapes(text string) string {
	var b strings.Builder
	number := func(digits string, base, most int) (n int) {
		for n < most && n < len(digits) && strings.IndexByte("0123456789abcdefABCDEF"[:base+max(0, base-10)], digits[n]) >= 0 {
			n++
		}
		return n
	}
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 >= len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		c, base, most, from := text[i], 16, 0, i+1
		switch c {
		case '0', '1', '2', '3', '4', '5', '6', '7':
			base, most, from = 8, 3, i
		case 'x':
			most = 2
		case 'u':
			most = 4
		case 'U':
			most = 8
		case 'c':
			if i++; i < len(text) {
				b.WriteByte(text[i] & 0x1f)
			}
			continue
		}
		n := number(text[from:], base, most)
		if n == 0 {
			if at := strings.IndexByte("abeEfnrtv", c); at >= 0 {
				b.WriteByte("\a\b\x1b\x1b\f\n\r\t\v"[at])
			} else if strings.IndexByte(`\'"?`, c) >= 0 {
				b.WriteByte(c)
			} else {
				b.WriteString(text[i-1 : i+1])
			}
			continue
		}
		i = from + n - 1
		value, _ := strconv.ParseUint(text[from:from+n], base, 32)
		switch {
		case value == 0: // it ends the text
			return b.String()
		case c == 'u' || c == 'U':
			b.WriteRune(rune(min(value, utf8.MaxRune)))
		default:
			b.WriteByte(byte(value))
		}
	}
	return b.String()
}

// foundBy says of the words that find, or xargs after it, puts in how they look: they begin
// with the folder that is searched, and end as the name that is looked for does.
func (r *reader) foundBy(words, inner []Word) {
	found := words
	if programName(words[0]) == "xargs" {
		if found = r.fedWords(); len(found) == 0 {
			return
		}
	}
	if programName(found[0]) != "find" {
		return
	}
	looks := findLooks(found)
	for i := range inner {
		switch word := &inner[i]; {
		case looks == nil || word.Literal:
		case word.Text == "{}" || word.Text == "…":
			word.known = &known{pieces: looks}
		}
	}
}

// fedWords returns the words of the command at the other end of the pipe, if it is one.
func (r *reader) fedWords() []Word {
	if !strings.HasPrefix(r.fed, "find ") {
		return nil
	}
	line := Split(r.fed)
	if line.Err != nil || len(line.Commands) == 0 || line.Commands[0].Text != line.Text {
		return nil
	}
	return line.Commands[0].Words
}

// findLooks returns how what find prints looks, nil if that does not show.
func findLooks(words []Word) (looks []patterns.Piece) {
	start, name := ".", ""
	i := 1
	for ; i < len(words) && !strings.HasPrefix(words[i].Text, "-") && words[i].Text != "(" && words[i].Text != "!"; i++ {
		if start = words[i].Text; i > 1 || !words[i].Literal {
			return nil
		}
	}
	limited := false
	for ; i+1 < len(words); i++ {
		switch words[i].Text {
		case "-o", "-or", ",", "!", "-not", "(", "-fprintf", "-printf":
			return nil
		case "-name", "-iname":
			if name = words[i+1].Text; !words[i+1].Literal {
				return nil
			}
			limited = strings.Trim(name, "*?.") != ""
		case "-mindepth":
			limited = true
		}
	}
	looks = append(looks, patterns.Piece{Text: start})
	if limited && !strings.HasSuffix(start, "/") {
		looks = append(looks, patterns.Piece{Text: "/"})
	}
	return append(looks, patterns.Piece{Any: patterns.Path}, patterns.Piece{Text: name[strings.LastIndexAny(name, "*?]")+1:]})
}
