package record

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/executor/state"
	"github.com/hookd-dev/hookd/protocol"
)

// file is the newest part of one session's record. Whoever uses it holds mu.
type file struct {
	dir, name string
	used      int64

	mu   sync.Mutex
	lock *state.FileLock
	f    *os.File
	info fs.FileInfo // which file f is
	size int64       // as our last write left it
	end  tail

	waiting    []line // not on disk yet, oldest first
	waitingLen int
	lost       missed // lines that did not even find room to wait
	looked     bool   // for what earlier processes missed
	traced     bool   // leaveTrace left one
	before     missed // by earlier processes, and told by no line yet
}

// line is one line before its place in the chain is known.
type line struct {
	kind    Kind
	at      time.Time
	session string
	body    []byte // a JSON object
	event   string // id, "" if it is about none

	set      string // hash of the set that ruled it, "" if it is of no set
	describe func() *Set
}

// wait puts a line behind those that the disk has not taken yet.
func (f *file) wait(l line) {
	if len(f.waiting) >= maxWaiting || f.waitingLen > maxWaitingLen {
		f.lost.add(l.event)
		return
	}
	f.waiting = append(f.waiting, l)
	f.waitingLen += len(l.body)
}

// flush writes every waiting line, and reports whether it had to begin a new
// file for that.
func (f *file) flush(segment int64) (rotated bool, err error) {
	if f.lock == nil {
		f.lock = state.NewFileLock(f.dir, f.name)
	}
	if err := f.lock.Lock(); err != nil { // creates the folder
		return false, err
	}
	defer f.lock.Unlock()
	if err := f.refresh(); err != nil {
		return false, err
	}
	if segment > 0 && f.size >= segment {
		if err := f.rotate(); err != nil {
			return false, err
		}
		rotated = true
	}
	return rotated, f.write()
}

// refresh opens the file and finds the end of its chain, unless the file is as
// our last write left it.
func (f *file) refresh() error {
	info, err := os.Stat(path(f.dir, f.name))
	if err == nil && f.f != nil && os.SameFile(info, f.info) && info.Size() == f.size {
		return nil
	}
	f.close()
	opened, err := os.OpenFile(path(f.dir, f.name), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	info, err = opened.Stat()
	if err != nil {
		opened.Close()
		return err
	}
	end, err := readTail(opened, info.Size())
	if err != nil {
		opened.Close()
		return err
	}
	// A file that ends before what we wrote into it was cut or removed. Our own
	// chain goes on, so that the gap shows.
	if end.n < f.end.n {
		end.n, end.hash = f.end.n, f.end.hash
	}
	f.f, f.info, f.size, f.end = opened, info, info.Size(), end
	return nil
}

// write writes the waiting lines in one write. A write that the disk cuts short
// is taken back whole.
func (f *file) write() error {
	earlier := f.missedBefore()
	end, lost := f.end, f.lost.with(earlier)
	out := make([]byte, 0, f.waitingLen+len(f.waiting)*headerRoom)
	if end.open {
		out = append(out, '\n')
	}
	for _, l := range f.waiting {
		if l.set != "" && l.set != end.set {
			body, err := encode(l.describe())
			if err != nil {
				return err
			}
			set := line{kind: KindSet, at: l.at, session: l.session, body: body, set: l.set}
			out, end = appendLine(out, set, end, lost)
			lost = missed{}
		}
		out, end = appendLine(out, l, end, lost)
		lost = missed{}
	}
	if _, err := f.f.Write(out); err != nil {
		return errors.Join(err, f.f.Truncate(f.size))
	}
	f.size += int64(len(out))
	f.end = end
	f.waiting, f.waitingLen, f.lost = nil, 0, missed{}
	if earlier.Count > 0 || f.traced {
		os.Remove(missedPath(f.dir, f.name))
		f.before, f.traced = missed{}, false
	}
	return nil
}

// headerRoom is about what appendLine puts in front of a body, in bytes.
const headerRoom = 256

// appendLine puts the header in front of a line's body, and returns where the
// chain stands behind it.
func appendLine(out []byte, l line, end tail, lost missed) ([]byte, tail) {
	begin := len(out)
	out = append(out, `{"v":1,"kind":"`...)
	out = append(out, l.kind...)
	out = append(out, `","n":`...)
	out = strconv.AppendInt(out, end.n+1, 10)
	out = append(out, `,"prev":`...)
	if end.hash == "" {
		out = append(out, "null"...)
	} else {
		out = append(out, '"')
		out = append(out, end.hash...)
		out = append(out, '"')
	}
	if end.torn {
		out = append(out, `,"torn":true`...)
	}
	if lost.Count > 0 {
		out = append(out, `,"lost":`...)
		out = strconv.AppendInt(out, lost.Count, 10)
		ids, _ := protocol.Marshal(lost.IDs) // a list of texts has a JSON form
		out = append(append(out, `,"lostIds":`...), ids...)
	}
	out = append(out, `,"time":"`...)
	out = l.at.UTC().AppendFormat(out, protocol.TimeFormat)
	out = append(out, `","session":`...)
	out, _ = jsontext.AppendQuote(out, l.session) // bad UTF-8 becomes U+FFFD
	out = append(out, ',')
	out = append(out, l.body[1:]...)
	next := tail{n: end.n + 1, hash: hashOf(out[begin:]), set: end.set}
	if l.set != "" {
		next.set = l.set
	}
	return append(out, '\n'), next
}

// rotate renames the file, so that a new one continues the chain.
func (f *file) rotate() error {
	if f.end.n == 0 {
		return nil
	}
	end := f.end
	f.close()
	if err := os.Rename(path(f.dir, f.name), segmentPath(f.dir, f.name, end.n)); err != nil {
		return err
	}
	f.end = end
	return f.refresh()
}

// close closes the record, and goes on to hold its lock.
func (f *file) close() {
	if f.f != nil {
		f.f.Close()
		f.f = nil
	}
}

// closeAll gives every descriptor back. The file may be used again.
func (f *file) closeAll() {
	f.close()
	if f.lock != nil {
		f.lock.Close()
	}
}

// tail is where a chain ends.
type tail struct {
	n    int64  // number of the last whole line, 0 without one
	hash string // of the last line, a torn one included; "" without one
	set  string // hash of the set of hooks that ruled the last line, "" if it names none
	open bool   // the last line has no newline
	torn bool   // and is no whole line
}

// readTail finds the end of a chain by reading the file backwards.
func readTail(r io.ReaderAt, size int64) (tail, error) {
	last, rest, err := lastLine(r, size)
	if err != nil || last == nil {
		return tail{}, err
	}
	t := tail{hash: hashOf(last.text), open: last.open}
	h, err := parseHeader(last.text)
	if err == nil {
		t.n, t.set = h.N, h.Set
		return t, nil
	}
	// Not a whole line. Where it has no newline a crash cut it; where it has one
	// somebody changed the file. Either way the chain covers it, and the numbers
	// go on from the line before.
	t.torn = true
	for range farthestBack {
		last, rest, err = lastLine(r, rest)
		if err != nil || last == nil {
			return t, err
		}
		if h, err := parseHeader(last.text); err == nil {
			t.n = h.N
			return t, nil
		}
	}
	return t, nil // the chain begins anew, which a reader sees
}

// farthestBack is how many lines that are none the end of a chain is looked for
// before.
const farthestBack = 100

type lastText struct {
	text []byte
	open bool
}

// lastLine returns the last line of the first size bytes, and where it begins.
func lastLine(r io.ReaderAt, size int64) (*lastText, int64, error) {
	if size == 0 {
		return nil, 0, nil
	}
	for chunk := int64(16 << 10); ; chunk *= 4 {
		begin := max(0, size-min(chunk, maxLine))
		buf := make([]byte, size-begin)
		if _, err := r.ReadAt(buf, begin); err != nil && err != io.EOF {
			return nil, 0, err
		}
		open := buf[len(buf)-1] != '\n'
		if !open {
			buf = buf[:len(buf)-1]
		}
		for i := len(buf) - 1; i >= 0; i-- {
			if buf[i] == '\n' {
				return &lastText{buf[i+1:], open}, begin + int64(i) + 1, nil
			}
		}
		if begin == 0 || chunk >= maxLine {
			return &lastText{buf, open}, 0, nil // or its end: where it begins is not looked for
		}
	}
}

// names returns the names of all records in a folder.
func names(dir string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		return nil, err
	}
	var out []string
	for _, p := range paths {
		if name, isSegment := nameOf(p); !isSegment {
			out = append(out, name)
		}
	}
	return out, nil
}
