package loader

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// content is what one reading of a file told. Head, hash and stat belong to the
// same bytes: they were read from one open file in one pass.
type content struct {
	stat fileStat
	sum  string // SHA-256, hex; "" of a large file that nobody asked it of yet, see hashed
	head []byte // what of the first headLimit bytes says anything, see telling
	long bool   // the file goes on behind them

	cache *contentCache // that read it, if sum is ""
	shape *shape        // of the loads of one loader, one after the other; nil = none yet
}

// maxFileSize bounds one file of a bundle.
const maxFileSize = 256 << 20

// readContent reads a file once, hashing as it goes, and copies it to out if
// that is not nil. A file that changes while it is read is an error, so that
// neither a half-written hook nor a swapped one gets a hash.
func readContent(path string, out io.Writer) (*content, error) {
	return readUnder(context.Background(), path, out)
}

// readUnder is readContent that ends with ctx.
func readUnder(ctx context.Context, path string, out io.Writer) (*content, error) {
	f, before, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	hash := sha256.New()
	sink := io.Writer(hash)
	if out != nil {
		sink = io.MultiWriter(hash, out)
	}
	head := make([]byte, min(before.Size, headLimit))
	n, err := io.ReadFull(f, head)
	head = head[:n]
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return nil, err
	}
	if _, err := sink.Write(head); err != nil {
		return nil, err
	}
	total := int64(n)
	if before.Size > headLimit {
		more, err := io.Copy(sink, io.LimitReader(until{ctx, f}, maxFileSize-total+1))
		if err != nil {
			return nil, err
		}
		total += more
	}
	after, err := fstat(f)
	if err != nil {
		return nil, err
	}
	if total != before.Size || after.Size != before.Size || after.Mtime != before.Mtime || after.Ctime != before.Ctime {
		return nil, fmt.Errorf("%s: %w", path, errMoving)
	}
	return &content{stat: before, sum: hex.EncodeToString(hash.Sum(nil)), head: telling(head), long: total > int64(len(head))}, nil
}

// until is a file that is read until ctx ends.
type until struct {
	ctx context.Context
	f   *os.File
}

func (u until) Read(p []byte) (int, error) {
	if u.ctx.Err() != nil {
		return 0, context.Cause(u.ctx)
	}
	return u.f.Read(p)
}

// hashedAtOnce is the size up to which a file is hashed when it is found. Larger
// ones are when somebody asks for the hash: what nobody allowed is not worth the
// time of an event.
const hashedAtOnce = 64 << 10

// peekContent reads how a file begins.
func peekContent(path string) (*content, error) {
	f, st, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, min(st.Size, headLimit))
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return nil, err
	}
	return &content{stat: st, head: telling(head[:n]), long: st.Size > int64(n)}, nil
}

// hashed is a content with its hash.
func (c *content) hashed(path string) (*content, error) {
	if c.sum != "" {
		return c, nil
	}
	now := time.Now()
	whole, err := readUnder(c.cache.ctx, path, nil)
	if err != nil {
		return nil, err
	}
	if whole.stat != c.stat {
		return nil, fmt.Errorf("%s: %w", path, errMoving)
	}
	c.cache.keep(path, whole, now)
	return whole, nil
}

// errNotHashed says that the files of something are large and nobody asks for
// their hash.
var errNotHashed = errors.New("its files are large and not hashed: nobody allowed it")

// unasked is how many bytes of what nobody allowed one load hashes.
const unasked = 64 << 20

var errMoving = fmt.Errorf("the file is being written")

// openRegular opens a regular file without ever blocking on a FIFO or touching
// a device that stands in its place. The flags see to it that opening one that
// was put there since has no effect.
func openRegular(path string) (*os.File, fileStat, error) {
	st, err := stat(path)
	if err != nil {
		return nil, st, err
	}
	if err := wantRegular(path, st); err != nil {
		return nil, st, err
	}
	f, err := os.OpenFile(path, openFlags, 0)
	if err != nil {
		return nil, st, err
	}
	st, err = fstat(f)
	if err == nil {
		err = wantRegular(path, st)
	}
	if err != nil {
		f.Close()
		return nil, st, err
	}
	return f, st, nil
}

func wantRegular(path string, st fileStat) error {
	switch {
	case !st.Mode.IsRegular():
		return fmt.Errorf("%s: not a regular file", path)
	case st.Size > maxFileSize:
		return fmt.Errorf("%s: larger than %d MiB", path, maxFileSize>>20)
	}
	return nil
}

// contentCache remembers readings by the file's stat. An entry counts only if
// the file had been at rest for a while when it was read: two writes within one
// tick of the file system's clock look alike.
type contentCache struct {
	mu     sync.Mutex
	byPath map[string]cached
	before *readings // what earlier processes read; nil = of no use here

	ctx context.Context // of the load that reads just now
}

type cached struct {
	content *content
	settled bool
}

// readsUnder has files be read until ctx ends, and returns what undoes that.
func (l *loader) readsUnder(ctx context.Context) (undo func()) {
	l.files.ctx, l.sure.ctx = ctx, ctx
	return func() { l.files.ctx, l.sure.ctx = context.Background(), context.Background() }
}

func newContentCache() *contentCache {
	return &contentCache{byPath: map[string]cached{}, ctx: context.Background()}
}

// read returns the file's content, from memory if nothing can have changed.
func (c *contentCache) read(path string) (*content, error) {
	st, err := stat(path)
	if err != nil {
		return nil, err
	}
	return c.readAs(path, st)
}

// readAs is read for a file that was just looked at.
func (c *contentCache) readAs(path string, st fileStat) (*content, error) {
	c.mu.Lock()
	known, ok := c.byPath[path]
	if !ok || !known.settled || known.content.stat != st {
		if known.content, ok = c.before.find(path, st); ok {
			known.settled = true
			c.byPath[path] = known
		}
	}
	c.mu.Unlock()
	if ok {
		return known.content, nil
	}
	now := time.Now() // before the reading
	if st.Size > hashedAtOnce {
		fresh, err := peekContent(path)
		if err != nil {
			return nil, err
		}
		fresh.cache = c
		return fresh, nil
	}
	fresh, err := readUnder(c.ctx, path, nil)
	if err != nil {
		return nil, err
	}
	c.keep(path, fresh, now)
	return fresh, nil
}

// keep remembers a reading that began at a moment.
func (c *contentCache) keep(path string, fresh *content, began time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byPath[path] = cached{content: fresh, settled: fresh.stat.settled(began)}
	c.before.note(path, fresh, began)
}

// save keeps what was read for the next process.
func (c *contentCache) save() { c.before.save() }

// readSized reads a file of which the size is known.
func readSized(f *os.File, size int64) ([]byte, error) {
	text := make([]byte, size)
	n, err := io.ReadFull(f, text)
	if err == io.ErrUnexpectedEOF || err == io.EOF {
		err = nil // it shrank meanwhile
	}
	return text[:n], err
}
