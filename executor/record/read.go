package record

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/executor/state"
)

// Line is one line of a record as it was read.
type Line struct {
	Kind    Kind
	N       int64
	Time    time.Time
	Session string
	Set     string   // hash of the set of hooks that ruled it, "" if none did
	Lost    int64    // lines before this one that no disk would take
	LostIDs []string // the events of the first of them
	Hash    string   // of this line
	Raw     []byte   // without its newline
	File    string   // where it stands
	Number  int      // line of the file, from 1; 0 of a line of [Backwards]
}

// Decode reads the line's content into an [Event], [Late], [Set] or [Trust].
// Members that this version does not know are ignored.
func (l *Line) Decode(into Entry) error {
	if into.kind() != l.Kind {
		return fmt.Errorf("line %d is of kind %s, not %s", l.N, l.Kind, into.kind())
	}
	return json.Unmarshal(l.Raw, into)
}

// Problem is a place where a record is not what was once written.
type Problem struct {
	File string
	Line int   // of the file, from 1; 0 where it is not known
	N    int64 // of the line there, 0 where it has none
	// Crash says that a crash explains the problem: it cut a line in the middle of its
	// write. Somebody made all other problems.
	Crash bool
	What  string
}

func (p *Problem) Error() string {
	switch {
	case p.Line > 0:
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.What)
	case p.N > 0:
		return fmt.Sprintf("%s, at the line numbered %d: %s", p.File, p.N, p.What)
	}
	return p.File + ": " + p.What
}

// Read yields the lines of a session from the oldest that is kept, each with the problem
// that was found there. It yields nil and a problem for a line that is no record.
// Records without a session are read by their day, 2026-11-27.
func Read(dir, session string) iter.Seq2[*Line, *Problem] {
	return read(dir, readName(session), func() bool { return false })
}

// Follow is [Read] that waits for further lines until ctx ends.
func Follow(ctx context.Context, dir, session string) iter.Seq2[*Line, *Problem] {
	return read(dir, readName(session), func() bool {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(100 * time.Millisecond):
			return true
		}
	})
}

// readName is the name of the record of a session or a day.
func readName(session string) string {
	if _, err := time.Parse(time.DateOnly, session); err == nil {
		return session
	}
	return state.FileName(session)
}

// maxProblems is how many problems of one record Verify lists; a file of millions of
// foreign lines would fill the memory otherwise.
const maxProblems = 1000

// Verify reads a whole record and returns what is wrong with it: the first
// thousand problems, and how many more there are. With heads that were kept elsewhere it
// finds a tail that was cut and a chain that was rewritten.
func Verify(dir, session string, heads ...Head) []*Problem {
	var problems []*Problem
	more, next := 0, 0
	missing := slices.Clone(heads)
	for line, problem := range Read(dir, session) {
		switch {
		case problem == nil:
		case len(problems) < maxProblems:
			problems = append(problems, problem)
		default:
			if more++; more == 1 {
				next = problem.Line
			}
		}
		if line != nil {
			missing = slices.DeleteFunc(missing, func(h Head) bool { return h.N == line.N && h.Hash == line.Hash })
		}
	}
	if more > 0 {
		problems = append(problems, &Problem{
			File: path(dir, readName(session)), Line: next,
			What: fmt.Sprintf("from here on %d more lines have problems", more),
		})
	}
	for _, h := range missing {
		problems = append(problems, &Problem{
			File: path(dir, readName(session)), N: h.N,
			What: fmt.Sprintf("line %d with hash %s is not there: the record was cut or rewritten", h.N, h.Hash),
		})
	}
	return problems
}

// Head is the newest line of a record. Kept elsewhere it is evidence of all
// lines up to it.
type Head struct {
	Name string `json:"name"` // session id, or the day of records without one
	N    int64  `json:"n"`
	Hash string `json:"hash"`
}

// HeadOf returns the newest line of a session's record, with N 0 if there is
// none.
func HeadOf(dir, session string) (Head, error) {
	name := readName(session)
	head := Head{Name: session}
	var newest io.ReaderAt
	var size int64
	f, err := os.Open(path(dir, name))
	switch {
	case err == nil:
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return head, err
		}
		newest, size = f, info.Size()
	case !errors.Is(err, fs.ErrNotExist):
		return head, err
	}
	end, err := endOf(dir, name, newest, size)
	head.N, head.Hash = end.n, end.hash
	return head, err
}

// Names returns the file names of all records in a folder, the one written last
// at the end. A name is a day, or the id of a session unless the id cannot be a file name.
func Names(dir string) ([]string, error) {
	all, err := names(dir)
	if err != nil {
		return nil, err
	}
	modified := map[string]time.Time{}
	for _, name := range all {
		if info, err := os.Stat(path(dir, name)); err == nil {
			modified[name] = info.ModTime()
		}
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(modified[a].Compare(modified[b]), cmp.Compare(a, b)) })
	return all, nil
}

// read walks the chain. more is called at the end of the newest file and says
// whether to look again. A file that is followed may be renamed by a rotation;
// what continues it is found by the numbers of its lines.
func read(dir, name string, more func() bool) iter.Seq2[*Line, *Problem] {
	return func(yield func(*Line, *Problem) bool) {
		c := chain{}
		for {
			file, newest := c.next(dir, name)
			again := func() bool { return newest && more() }
			if !c.readFile(file, again, yield) || (newest && !more()) {
				return
			}
		}
	}
}

// next returns the file that holds the line after those that were read, and whether
// it is the newest.
func (c *chain) next(dir, name string) (file string, newest bool) {
	for _, part := range segments(dir, name) {
		if part.last > c.last {
			c.last = part.last
			return part.path, false
		}
	}
	return path(dir, name), true
}

// chain checks lines one after the other.
type chain struct {
	begun   bool
	last    int64 // number in the name of the newest earlier part that was read
	n       int64
	hash    string
	pending *Problem // a line that is none; the next line says whether a crash cut it
}

// readFile yields one file's lines and reports whether to go on. At the end of
// the file it asks more; it returns when there is no more or when another file
// has taken this one's name.
func (c *chain) readFile(file string, more func() bool, yield func(*Line, *Problem) bool) bool {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if err != nil {
		return yield(nil, &Problem{File: file, What: err.Error()})
	}
	defer f.Close()
	return c.readOpen(f, file, more, yield)
}

func (c *chain) readOpen(f *os.File, file string, more func() bool, yield func(*Line, *Problem) bool) bool {
	replaced := false
	lines := bufio.NewReaderSize(f, 64<<10)
	var rest []byte
	for number := 1; ; {
		text, err := lines.ReadSlice('\n')
		if room := maxLine + 1 - len(rest); len(text) > room {
			text = append(slices.Clone(text[:max(0, room)]), '\n') // no line of ours; its end is read over
		}
		rest = append(rest, text...)
		if err == bufio.ErrBufferFull {
			rest = bytes.TrimSuffix(rest, []byte("\n"))
			continue
		}
		switch {
		case err == nil:
			if !c.line(file, number, bytes.TrimSuffix(rest, []byte("\n")), yield) {
				return false
			}
			number, rest = number+1, nil
		case err != io.EOF:
			return yield(nil, &Problem{File: file, Line: number, What: err.Error()})
		case replaced:
			c.last = max(c.last, c.n)
			return true
		case !more():
			return c.end(file, number, rest, yield)
		default:
			// What was written before the file was renamed is read first.
			replaced = wasReplaced(f, file)
		}
	}
}

func wasReplaced(f *os.File, file string) bool {
	ours, err := f.Stat()
	if err != nil {
		return false
	}
	theirs, err := os.Stat(file)
	return err == nil && !os.SameFile(ours, theirs)
}

// line checks one line and yields it.
func (c *chain) line(file string, number int, text []byte, yield func(*Line, *Problem) bool) bool {
	h, err := parseHeader(text)
	if err != nil {
		if !c.yieldPending(yield) {
			return false
		}
		c.pending = &Problem{File: file, Line: number, What: fmt.Sprintf("not a line of a record: %v", err)}
		c.hash = hashOf(text)
		return true
	}
	l := &Line{
		Kind: h.Kind, N: h.N, Time: h.Time, Session: h.Session, Set: h.Set, Lost: h.Lost, LostIDs: h.LostIDs,
		Hash: hashOf(text), Raw: text, File: file, Number: number,
	}
	problem := c.check(&h, l)
	if !c.yieldPending(yield) {
		return false
	}
	c.begun, c.n, c.hash = true, h.N, l.Hash
	return yield(l, problem)
}

// check compares a line with where the chain stood before it.
func (c *chain) check(h *header, l *Line) *Problem {
	prev := ""
	if h.Prev != nil {
		prev = *h.Prev
	}
	wrong := func(format string, args ...any) *Problem {
		return &Problem{File: l.File, Line: l.Number, N: l.N, What: fmt.Sprintf(format, args...)}
	}
	switch {
	case !c.begun && c.pending == nil && (h.N != 1 || prev != ""):
		return wrong("the record begins with line %d: the lines before it were removed, by age or by hand", h.N)
	case (c.begun || c.pending != nil) && prev != c.hash:
		return wrong("the line before it is not the one that was written: lines were changed, added or removed here")
	case c.begun && h.N != c.n+1:
		return wrong("line %d follows line %d", h.N, c.n)
	}
	if c.pending != nil && h.Torn {
		c.pending.Crash = true
		c.pending.What = "a crash cut this line; its event is lost or was not decided"
	}
	return nil
}

// yieldPending yields the problem of a broken line, once it is known what it is.
func (c *chain) yieldPending(yield func(*Line, *Problem) bool) bool {
	p := c.pending
	c.pending = nil
	return p == nil || yield(nil, p)
}

// end deals with what stands after the last newline.
func (c *chain) end(file string, number int, rest []byte, yield func(*Line, *Problem) bool) bool {
	if len(rest) == 0 {
		return c.yieldPending(yield)
	}
	if _, err := parseHeader(rest); err == nil {
		return c.line(file, number, rest, yield)
	}
	return c.yieldPending(yield) && yield(nil, &Problem{
		File: file, Line: number, Crash: true,
		What: "a crash cut this line; its event is lost or was not decided",
	})
}
