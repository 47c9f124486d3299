//go:build unix

package worker

import (
	"time"

	"golang.org/x/sys/unix"
)

// fileState tells one version of a file from another. The zero value stands for a
// file that does not exist. The change time is part of it because no program
// can set it back.
type fileState struct {
	found        bool
	device, node uint64
	size         int64
	mtime, ctime int64 // nanoseconds since 1970
}

func stateOf(path string) fileState {
	var st unix.Stat_t
	for {
		switch err := unix.Stat(path, &st); err {
		case nil:
			return fileState{true, uint64(st.Dev), uint64(st.Ino), st.Size, st.Mtim.Nano(), st.Ctim.Nano()}
		case unix.EINTR:
		default:
			return fileState{}
		}
	}
}

func (s fileState) newest() time.Time { return time.Unix(0, max(s.mtime, s.ctime)) }
