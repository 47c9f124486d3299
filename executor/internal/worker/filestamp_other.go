//go:build !unix

package worker

import (
	"os"
	"time"
)

// fileState tells one version of a file from another. The zero value stands for a
// file that does not exist.
type fileState struct {
	found bool
	size  int64
	mtime int64 // nanoseconds since 1970
}

func stateOf(path string) fileState {
	info, err := os.Stat(path)
	if err != nil {
		return fileState{}
	}
	return fileState{true, info.Size(), info.ModTime().UnixNano()}
}

func (s fileState) newest() time.Time { return time.Unix(0, s.mtime) }
