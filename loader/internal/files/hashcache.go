package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// A HashCache remembers the hashes of files by their stat, within one process. It
// is the only cache of what files hold, so that it may be asked for any file. An
// entry counts only if the file had been at rest for a while when it was read: two
// writes within one tick of the file system's clock look alike.
type HashCache struct {
	mu     sync.Mutex
	ByPath map[string]Hash

	ctx context.Context // of the load that reads just now
}

// Hash is the hash of a file's bytes, with the stat that they were read under.
type Hash struct {
	Stat Info
	Sum  string // SHA-256, hex
}

// NewHashCache returns an empty cache.
func NewHashCache() *HashCache {
	return &HashCache{ByPath: map[string]Hash{}, ctx: context.Background()}
}

// UseContext has reading end when ctx ends, for one load. The caller must call undo at
// its end.
func (c *HashCache) UseContext(ctx context.Context) (undo func()) {
	c.ctx = ctx
	return func() { c.ctx = context.Background() }
}

// Hash returns the hash of a file, from memory if the file cannot have changed. The
// caller has looked at the file a moment ago and seen now.
func (c *HashCache) Hash(path string, now Info) (Hash, error) {
	c.mu.Lock()
	known, ok := c.ByPath[path]
	c.mu.Unlock()
	if ok && known.Stat == now {
		return known, nil
	}
	began := time.Now()
	fresh, err := ReadWhole(c.ctx, path, nil)
	if err != nil {
		return Hash{}, err
	}
	c.keep(path, fresh, began)
	return fresh, nil
}

// KeepHead remembers the hash of a file that was read no earlier than began, if the
// head is all of it: most hooks are read only once in a load.
func (c *HashCache) KeepHead(path string, h *Head, began time.Time) {
	if !h.Long {
		sum := sha256.Sum256(h.Bytes)
		c.keep(path, Hash{h.Stat, hex.EncodeToString(sum[:])}, began)
	}
}

func (c *HashCache) keep(path string, fresh Hash, began time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if delete(c.ByPath, path); fresh.Stat.Stable(began) {
		c.ByPath[path] = fresh
	}
}

// ReadWhole reads a file once, hashing as it goes, and copies it to out if that is
// not nil. A file that changes while it is read is an error, so that neither a
// half-written hook nor a swapped one gets a hash.
func ReadWhole(ctx context.Context, path string, out io.Writer) (Hash, error) {
	f, before, err := OpenRegular(path)
	if err != nil {
		return Hash{}, err
	}
	defer f.Close()
	hash := sha256.New()
	sink := io.Writer(hash)
	if out != nil {
		sink = io.MultiWriter(hash, out)
	}
	buffer := make([]byte, min(before.Size+1, 32<<10)) // most files are small
	total, err := io.CopyBuffer(sink, io.LimitReader(cancelable{ctx, f}, maxFileSize+1), buffer)
	if err != nil {
		return Hash{}, err
	}
	after, err := Fstat(f)
	if err != nil {
		return Hash{}, err
	}
	if total != before.Size || after.Size != before.Size || after.Mtime != before.Mtime || after.Ctime != before.Ctime {
		return Hash{}, fmt.Errorf("%s: %w", path, ErrBeingWritten)
	}
	return Hash{before, hex.EncodeToString(hash.Sum(nil))}, nil
}

// cancelable is a file that is read until ctx ends.
type cancelable struct {
	ctx context.Context
	f   *os.File
}

func (c cancelable) Read(p []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.f.Read(p)
}
