package textedit

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Edit is a change of a text as a model writes it: with plain line ends, also of a file
// that has others. Bytes that are not replaced stay as they are.
type Edit struct {
	Old, New string
	All      bool // replace every occurrence; else there must be exactly one
}

// plainEnds reports whether line ends of the file are matched and written as it has
// them. Text with CR LF in it is meant to the letter.
func (r *Edit) plainEnds() bool { return !strings.Contains(r.Old, "\r") }

// Apply returns the edited text, of at most limit bytes, and how many places were
// replaced.
func (r *Edit) Apply(data []byte, limit int) (edited []byte, count int, err error) {
	places := r.places(data)
	for _, _, more := places.next(); more; _, _, more = places.next() {
		count++
	}
	switch {
	case count == 0:
		return nil, 0, r.missing(data)
	case count > 1 && !r.All:
		return nil, count, fmt.Errorf("oldText occurs %d times; give more of its surroundings or set replaceAll", count)
	}
	plain := []byte(r.New)
	dos := toCRLF(plain)
	ends := lineEnds{data: data}
	done := 0
	edited = make([]byte, 0, min(len(data)+len(dos), limit))
	places = r.places(data)
	for start, end, more := places.next(); more; start, end, more = places.next() {
		text := plain
		if r.plainEnds() && ends.crlfAt(start) {
			text = dos
		}
		if len(edited)+start-done+len(text) > limit {
			return nil, count, tooLong(limit)
		}
		edited = append(append(edited, data[done:start]...), text...)
		done = end
	}
	if len(edited)+len(data)-done > limit {
		return nil, count, tooLong(limit)
	}
	return append(edited, data[done:]...), count, nil
}

func tooLong(limit int) error {
	return fmt.Errorf("would have more than %d bytes after the edit; nothing was written", limit)
}

// toCRLF gives a text CR LF at each line's end.
func toCRLF(text []byte) []byte {
	return bytes.ReplaceAll(toLF(text), []byte("\n"), []byte("\r\n"))
}

func toLF(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")) }

// places are the occurrences of a text, one after the other. Where line ends do not
// count they are searched in a copy with plain ones, and both texts are walked along.
type places struct {
	data, searched []byte
	old            []byte
	at, from       int // the same place in data and in searched
	cr             int // the next CR LF in data, at or after at; len(data) if there is none
}

func (r *Edit) places(data []byte) *places {
	p := &places{data: data, searched: data, old: []byte(r.Old), cr: len(data)}
	if r.plainEnds() && strings.Contains(r.Old, "\n") {
		p.searched = toLF(data)
		p.nextCR(0)
	}
	return p
}

func (p *places) nextCR(after int) {
	p.cr = len(p.data)
	if i := bytes.Index(p.data[after:], []byte("\r\n")); i >= 0 {
		p.cr = after + i
	}
}

// next returns the next occurrence as it stands in data.
func (p *places) next() (start, end int, more bool) {
	i := bytes.Index(p.searched[p.from:], p.old)
	if i < 0 {
		return 0, 0, false
	}
	p.advance(i)
	start = p.at
	p.advance(len(p.old))
	return start, p.at, true
}

// advance goes on by so many bytes of what is searched.
func (p *places) advance(n int) {
	for p.cr-p.at < n { // the line's end itself is among them
		n -= p.cr - p.at + 1
		p.from += p.cr - p.at + 1
		p.at = p.cr + 2
		p.nextCR(p.at)
	}
	p.at += n
	p.from += n
}

// lineEnds finds out how lines end at places of a text, asked in order.
type lineEnds struct {
	data  []byte
	next  int // the line's end that counts for the place asked last
	known bool
	crlf  bool
}

// crlfAt reports whether the line that holds a place ends with CR LF. After the last
// line's end, that one counts.
func (e *lineEnds) crlfAt(place int) bool {
	if e.known && e.next >= place {
		return e.crlf
	}
	var end int
	if i := bytes.IndexByte(e.data[place:], '\n'); i >= 0 {
		end = place + i
		e.next = end
	} else {
		end = bytes.LastIndexByte(e.data[:place], '\n')
		e.next = len(e.data) // counts to the end
	}
	e.known = true
	e.crlf = end > 0 && e.data[end-1] == '\r'
	return e.crlf
}

// notByChance is the length of a newText that does not occur by chance.
const notByChance = 8

// missing says that the text does not occur, and what the model may have meant.
func (r *Edit) missing(data []byte) error {
	if first, last, found := r.nearly(data); found {
		return fmt.Errorf("oldText does not occur as it was given, but with other blanks or line ends in line %d to %d:\n%s\nGive oldText exactly as it stands there", first, last, linesOf(data, first, last))
	}
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")), bytes.IndexByte(data, 0) >= 0:
		return fmt.Errorf("oldText does not occur; the file is binary, or UTF-16 text, which this tool does not edit")
	case strings.ContainsRune(r.Old, utf8.RuneError) && !utf8.Valid(data):
		return fmt.Errorf("oldText does not occur; where you read %c the file has bytes that are not UTF-8: choose oldText without them", utf8.RuneError)
	case len(r.New) >= notByChance && (&Edit{Old: r.New}).occurs(data):
		return fmt.Errorf("oldText does not occur, newText does: perhaps the edit was made before; read the file again")
	}
	return fmt.Errorf("oldText does not occur in the file as it is now; read it again and copy oldText from there")
}

func (r *Edit) occurs(data []byte) bool {
	_, _, more := r.places(data).next()
	return more
}

// nearly finds the first lines that hold the text if blanks are not counted.
func (r *Edit) nearly(data []byte) (first, last int, found bool) {
	old := bytes.TrimSpace(squeezed([]byte(r.Old)))
	if len(old) == 0 {
		return 0, 0, false
	}
	text := squeezed(data)
	i := bytes.Index(text, old)
	if i < 0 {
		return 0, 0, false
	}
	first = 1 + bytes.Count(text[:i], []byte("\n"))
	return first, first + bytes.Count(old, []byte("\n")), true
}

// squeezed returns a text in which one blank stands for several, and none for those at
// the begin and end of a line. It has the same lines.
func squeezed(text []byte) []byte {
	out := make([]byte, 0, len(text))
	blank := false
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case r == '\n':
			out, blank = append(out, '\n'), false
		case r != utf8.RuneError && unicode.IsSpace(r):
			blank = true
		default:
			if blank && len(out) > 0 && out[len(out)-1] != '\n' {
				out = append(out, ' ')
			}
			out, blank = append(out, text[:size]...), false
		}
		text = text[size:]
	}
	return out
}

// maxShown is how much is shown of lines that a model nearly meant.
const maxShown = 4000

// linesOf are some lines of a text, counted from 1.
func linesOf(data []byte, first, last int) string {
	number := 0
	var shown []byte
	for line := range bytes.Lines(data) {
		if number++; number >= first && number <= last {
			shown = append(shown, line...)
		}
		if number >= last || len(shown) > maxShown {
			break
		}
	}
	if len(shown) > maxShown {
		return validUTF8(shown[:maxShown]) + "…"
	}
	return strings.TrimRight(validUTF8(shown), "\r\n")
}

// KeepForm gives the new content of a file the line ends and the byte order mark that
// the old one had, if a model wrote plain text. kept says what it changed.
func KeepForm(old, content []byte) (written []byte, kept []string) {
	ends := bytes.Count(old, []byte("\r\n"))
	if ends > 0 && bytes.Count(old, []byte("\n")) == ends && bytes.IndexByte(content, '\n') >= 0 && bytes.IndexByte(content, '\r') < 0 {
		content, kept = toCRLF(content), append(kept, "with CR LF at the lines' ends, as the file had them")
	}
	mark := []byte("\ufeff")
	if bytes.HasPrefix(old, mark) && len(content) > 0 && !bytes.HasPrefix(content, mark) {
		content, kept = append(mark, content...), append(kept, "with the byte order mark that the file had")
	}
	return content, kept
}

func validUTF8(text []byte) string { return strings.ToValidUTF8(string(text), "\uFFFD") }
