package worker

import (
	"slices"
	"time"
)

// fileStamp tells whether the files that a process was made of are still what they
// were when it was started. The loader notices a change in a moment, and an event that
// comes before must not meet the older content.
type fileStamp []fileState

// clockTick is longer than the clock of a file system stands still: two changes
// within one tick look alike.
const clockTick = 20 * time.Millisecond

// stampOf takes the stamp of files before a process is started from them. It waits
// until the last change of each is a tick old, but not for a file that changes all the
// time.
func stampOf(paths []string) fileStamp {
	stamp := make(fileStamp, len(paths))
	for i, path := range paths {
		for range 5 {
			stamp[i] = stateOf(path)
			rest := clockTick - time.Since(stamp[i].newest())
			if rest <= 0 || rest > clockTick {
				break
			}
			time.Sleep(rest)
		}
	}
	return stamp
}

// current reports whether none of the files has changed since.
func (s fileStamp) current(paths []string) bool {
	return slices.EqualFunc(s, paths, func(was fileState, path string) bool { return stateOf(path) == was })
}
