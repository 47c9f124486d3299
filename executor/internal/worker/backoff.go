package worker

import "time"

// backOff makes the next start wait longer, the more processes in a row failed.
type backOff struct {
	failed int       // processes in a row that failed
	until  time.Time // none is started before
}

// fail notes one more process that failed. After the first free ones, the next
// start waits: first, then twice as long each time, at most most.
func (b *backOff) fail(free int, first, most time.Duration) {
	if b.failed >= free {
		pause := most
		if b.failed < 12 {
			pause = min(first<<b.failed, most)
		}
		b.until = time.Now().Add(pause)
	}
	b.failed++
}

// reset notes a process that worked.
func (b *backOff) reset() { *b = backOff{} }
