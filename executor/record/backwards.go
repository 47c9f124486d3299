package record

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
)

// Backwards yields the lines of a session from the newest to the oldest, each with the
// problem that [Read] finds there. It reads no more of the record than its lines are taken
// from, so that the newest lines of a large record cost little. Lines have no Number: where
// a file begins is not known.
func Backwards(dir, session string) iter.Seq2[*Line, *Problem] {
	return func(yield func(*Line, *Problem) bool) {
		b := backChain{yield: yield}
		for f := range newestFirst(dir, readName(session)) {
			if f.err != nil {
				if !yield(nil, &Problem{File: f.path, What: f.err.Error()}) {
					return
				}
				continue
			}
			goOn := b.readFile(f.file, f.path)
			f.file.Close()
			if !goOn {
				return
			}
		}
		b.end()
	}
}

// openPart is a file of a record, opened.
type openPart struct {
	path string
	file *os.File
	err  error // why it cannot be read
}

// newestFirst opens the files of a record. The newest is opened before the names of the
// others are read: where it is renamed meanwhile, it is among them, and not read twice.
func newestFirst(dir, name string) iter.Seq[openPart] {
	return func(yield func(openPart) bool) {
		newest := openPart{path: path(dir, name)}
		newest.file, newest.err = os.Open(newest.path)
		parts := segments(dir, name)
		var same os.FileInfo
		switch {
		case newest.err == nil:
			same, _ = newest.file.Stat()
		case os.IsNotExist(newest.err):
			newest.err = nil
		}
		if (newest.file != nil || newest.err != nil) && !yield(newest) {
			return
		}
		for _, part := range slices.Backward(parts) {
			p := openPart{path: part.path}
			p.file, p.err = os.Open(part.path)
			if p.err == nil {
				if info, err := p.file.Stat(); err == nil && same != nil && os.SameFile(info, same) {
					p.file.Close()
					continue
				}
			} else if os.IsNotExist(p.err) {
				continue // removed by age meanwhile
			}
			if !yield(p) {
				return
			}
		}
	}
}

// backChain checks lines against the line that was written after each.
type backChain struct {
	yield  func(*Line, *Problem) bool
	held   *Line   // the line read last, which is yielded once the one before it is known
	header *header // of the held line
	newer  int64   // the number of the line after a broken one, 0 if there is none
	torn   bool    // the line after a broken one says that a crash cut it
}

func (b *backChain) readFile(f *os.File, file string) bool {
	info, err := f.Stat()
	if err != nil {
		return b.yield(nil, &Problem{File: file, What: err.Error()})
	}
	r := backReader{f: f, begin: info.Size()}
	for {
		text, open, err := r.line()
		switch {
		case err == io.EOF:
			return true
		case err != nil:
			return b.yield(nil, &Problem{File: file, What: err.Error()})
		case !b.line(file, text, open):
			return false
		}
	}
}

// line takes the line before the held one, and yields that.
func (b *backChain) line(file string, text []byte, open bool) bool {
	h, err := parseHeader(text)
	if !b.release(hashOf(text), h.N, err == nil) {
		return false
	}
	if err != nil {
		p := &Problem{File: file, What: fmt.Sprintf("not a line of a record: %v", err)}
		if open || b.torn {
			p.Crash, p.What = true, "a crash cut this line; its event is lost or was not decided"
		}
		b.torn = false
		return b.yield(nil, p)
	}
	b.header = &h
	b.held = &Line{
		Kind: h.Kind, N: h.N, Time: h.Time, Session: h.Session, Set: h.Set, Lost: h.Lost, LostIDs: h.LostIDs,
		Hash: hashOf(text), Raw: bytes.Clone(text), File: file,
	}
	return true
}

// release yields the held line, with what the line before it says of it: its hash, and its
// number if it is a line of a record.
func (b *backChain) release(before string, n int64, whole bool) bool {
	if b.held == nil {
		if whole && b.newer != 0 && b.newer != n+1 {
			newer := b.newer
			b.newer = 0
			return b.yield(nil, &Problem{N: newer, What: fmt.Sprintf("line %d follows line %d", newer, n)})
		}
		return true
	}
	l, h := b.held, b.header
	b.held, b.header, b.newer, b.torn = nil, nil, 0, h.Torn
	var p *Problem
	switch {
	case h.Prev == nil || *h.Prev != before:
		p = &Problem{File: l.File, N: l.N, What: "the line before it is not the one that was written: lines were changed, added or removed here"}
	case whole && l.N != n+1:
		p = &Problem{File: l.File, N: l.N, What: fmt.Sprintf("line %d follows line %d", l.N, n)}
	}
	if !whole && p == nil {
		b.newer = l.N
	}
	return b.yield(l, p)
}

// end yields the oldest line.
func (b *backChain) end() {
	if b.held == nil {
		return
	}
	var p *Problem
	if b.held.N != 1 || b.header.Prev != nil {
		p = &Problem{File: b.held.File, N: b.held.N, What: fmt.Sprintf("the record begins with line %d: the lines before it were removed, by age or by hand", b.held.N)}
	}
	b.yield(b.held, p)
}

// backBlock is how much of a file is read at a time, in bytes.
const backBlock = 128 << 10

// backReader reads the lines of a file from its end.
type backReader struct {
	f     io.ReaderAt
	begin int64  // of what is not read yet
	rest  []byte // read, and not returned
	begun bool
}

// line returns the line before those that were returned, valid until the next call, and
// whether it has no newline. After the first line it returns [io.EOF].
func (r *backReader) line() (text []byte, open bool, err error) {
	if !r.begun {
		r.begun = true
		if r.begin == 0 {
			return nil, false, io.EOF
		}
		if err := r.more(); err != nil {
			return nil, false, err
		}
		if last := len(r.rest) - 1; r.rest[last] == '\n' {
			r.rest = r.rest[:last]
		} else {
			open = true
		}
	} else if r.rest == nil {
		return nil, false, io.EOF
	}
	for {
		if i := bytes.LastIndexByte(r.rest, '\n'); i >= 0 {
			text, r.rest = r.rest[i+1:], r.rest[:i]
			return text, open, nil
		}
		if r.begin == 0 {
			text, r.rest = r.rest, nil
			return text, open, nil
		}
		if len(r.rest) > maxLine { // no line of ours: its beginning is looked for, and no more
			r.rest = r.rest[:maxLine/2]
		}
		if err := r.more(); err != nil {
			return nil, false, err
		}
	}
}

// more reads the block before what was read.
func (r *backReader) more() error {
	n := min(backBlock, r.begin)
	block := make([]byte, n, n+int64(len(r.rest)))
	if _, err := r.f.ReadAt(block, r.begin-n); err != nil && err != io.EOF {
		return err
	}
	r.rest, r.begin = append(block, r.rest...), r.begin-n
	return nil
}
