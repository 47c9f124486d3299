package files

import (
	"io/fs"
	"time"
)

// Info identifies a file and its version. Two equal values that were taken well after
// the file's last change mean the same content; the change time is part of it because
// no program can set it back.
type Info struct {
	Dev, Ino     uint64
	Size         int64
	Mtime, Ctime int64 // nanoseconds since 1970
	Mode         fs.FileMode
	UID, GID     int
}

// StableAfter is how old a change must be before equal stats are believed: file
// systems stamp changes with a clock that ticks every few milliseconds, so two
// writes within one tick look alike.
const StableAfter = 100 * time.Millisecond

// Stable reports whether the last change was long enough before now.
func (st Info) Stable(now time.Time) bool {
	newest := max(st.Mtime, st.Ctime)
	return newest < now.Add(-StableAfter).UnixNano()
}
