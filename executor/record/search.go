package record

import (
	"bufio"
	"bytes"
	"io"
	"iter"
	"os"
	"slices"
)

// Search yields the lines of a session whose text is wanted, from the oldest. It does not
// look at the chain and takes no other line apart, which makes it several times as quick
// as [Read]. A file that cannot be read has no lines for it.
func Search(dir, session string, wanted func(text []byte) bool) iter.Seq[*Line] {
	return func(yield func(*Line) bool) {
		name := readName(session)
		files := make([]string, 0, 4)
		for _, part := range segments(dir, name) {
			files = append(files, part.path)
		}
		for _, file := range append(files, path(dir, name)) {
			f, err := os.Open(file)
			if err != nil {
				continue
			}
			goOn := searchFile(f, file, wanted, yield)
			f.Close()
			if !goOn {
				return
			}
		}
	}
}

func searchFile(f io.Reader, file string, wanted func([]byte) bool, yield func(*Line) bool) bool {
	lines := bufio.NewReaderSize(f, 256<<10)
	for number := 1; ; number++ {
		text, err := longLine(lines)
		text = bytes.TrimSuffix(text, []byte("\n"))
		if len(text) > 0 && wanted(text) {
			if h, bad := parseHeader(text); bad == nil {
				l := &Line{
					Kind: h.Kind, N: h.N, Time: h.Time, Session: h.Session, Set: h.Set, Lost: h.Lost, LostIDs: h.LostIDs,
					Hash: hashOf(text), Raw: slices.Clone(text), File: file, Number: number,
				}
				if !yield(l) {
					return false
				}
			}
		}
		if err != nil {
			return true
		}
	}
}

// longLine returns the next line, valid until the next call. Of a line that is longer than
// any of ours the rest is read over.
func longLine(lines *bufio.Reader) ([]byte, error) {
	text, err := lines.ReadSlice('\n')
	if err != bufio.ErrBufferFull {
		return text, err
	}
	long := slices.Clone(text)
	for err == bufio.ErrBufferFull {
		text, err = lines.ReadSlice('\n')
		if len(long) <= maxLine {
			long = append(long, text...)
		}
	}
	return long, err
}

// OfKind wants the lines of some kinds, for [Search].
func OfKind(kinds ...Kind) func(text []byte) bool {
	var begins [][]byte
	for _, k := range kinds {
		begins = append(begins, []byte(`{"v":1,"kind":"`+string(k)+`"`)) // as appendEntry writes it
	}
	return func(text []byte) bool {
		return slices.ContainsFunc(begins, func(begin []byte) bool { return bytes.HasPrefix(text, begin) })
	}
}
