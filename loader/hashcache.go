package loader

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

// A hashCache remembers the hashes of files by their stat, within one process. It
// is the only cache of what files hold, so that it may be asked for any file. An
// entry counts only if the file had been at rest for a while when it was read: two
// writes within one tick of the file system's clock look alike.
type hashCache struct {
	mu     sync.Mutex
	byPath map[string]fileHash

	ctx context.Context // of the load that reads just now
}

// fileHash is the hash of a file's bytes, with the stat that they were read under.
type fileHash struct {
	stat fileStat
	sum  string // SHA-256, hex
}

func newHashCache() *hashCache {
	return &hashCache{byPath: map[string]fileHash{}, ctx: context.Background()}
}

// until has files be read until ctx ends, and returns what undoes that.
func (c *hashCache) until(ctx context.Context) (undo func()) {
	c.ctx = ctx
	return func() { c.ctx = context.Background() }
}

// hash returns the hash of a file, from memory if the file cannot have changed.
func (c *hashCache) hash(path string) (fileHash, error) {
	st, err := stat(path)
	if err != nil {
		return fileHash{}, err
	}
	c.mu.Lock()
	known, ok := c.byPath[path]
	c.mu.Unlock()
	if ok && known.stat == st {
		return known, nil
	}
	began := time.Now()
	fresh, err := readWhole(c.ctx, path, nil)
	if err != nil {
		return fileHash{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if delete(c.byPath, path); fresh.stat.settled(began) {
		c.byPath[path] = fresh
	}
	return fresh, nil
}

// readWhole reads a file once, hashing as it goes, and copies it to out if that is
// not nil. A file that changes while it is read is an error, so that neither a
// half-written hook nor a swapped one gets a hash.
func readWhole(ctx context.Context, path string, out io.Writer) (fileHash, error) {
	f, before, err := openRegular(path)
	if err != nil {
		return fileHash{}, err
	}
	defer f.Close()
	hash := sha256.New()
	sink := io.Writer(hash)
	if out != nil {
		sink = io.MultiWriter(hash, out)
	}
	total, err := io.Copy(sink, io.LimitReader(cancelable{ctx, f}, maxFileSize+1))
	if err != nil {
		return fileHash{}, err
	}
	after, err := fstat(f)
	if err != nil {
		return fileHash{}, err
	}
	if total != before.Size || after.Size != before.Size || after.Mtime != before.Mtime || after.Ctime != before.Ctime {
		return fileHash{}, fmt.Errorf("%s: %w", path, errMoving)
	}
	return fileHash{before, hex.EncodeToString(hash.Sum(nil))}, nil
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
