package files

import (
	"errors"
	"io/fs"
	"syscall"
	"time"
)

// fileStat is what a file's identity and version are told by. Two equal values
// taken well after the file's last change mean the same content; the change
// time is part of it because no program can set it back.
type Info struct {
	Dev, Ino     uint64
	Size         int64
	Mtime, Ctime int64 // nanoseconds since 1970
	Mode         fs.FileMode
	UID, GID     int
}

// settleTime is how old a change must be before equal stats are believed: file
// systems stamp changes with a clock that ticks every few milliseconds, so two
// writes within one tick look alike.
const StableAfter = 100 * time.Millisecond

// settled reports whether the last change lies far enough behind now.
func (st Info) Stable(now time.Time) bool {
	newest := max(st.Mtime, st.Ctime)
	return newest < now.Add(-StableAfter).UnixNano()
}

// missing reports errors that mean there is no such file. ENOTDIR is one: the
// folder of the file may be a file.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// cause is what a failed call on a path says, without the path.
func cause(err error) string {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		err = path.Err
	}
	return err.Error()
}
