package executor

import (
	"slices"
	"time"
)

// fileMark tells whether the files that a process was made of are still what they
// were when it was started: the loader notices a change in a moment, and an event
// that comes before must not meet the older content.
type fileMark []fileState

// fileTick is longer than the clock of a file system stands still: two changes
// within one tick look alike.
const fileTick = 20 * time.Millisecond

// markOf marks files before a process is started from them. It waits until the
// last change of each is a tick old, but not for a file that never rests.
func markOf(paths []string) fileMark {
	mark := make(fileMark, len(paths))
	for i, path := range paths {
		for range 5 {
			mark[i] = look(path)
			rest := fileTick - time.Since(mark[i].newest())
			if rest <= 0 || rest > fileTick {
				break
			}
			time.Sleep(rest)
		}
	}
	return mark
}

// current reports whether nothing has changed since.
func (m fileMark) current(paths []string) bool {
	return slices.EqualFunc(m, paths, func(was fileState, path string) bool { return look(path) == was })
}
