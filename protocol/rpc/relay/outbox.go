package relay

import (
	"io"
	"sync"
)

// mostUnwritten is how many bytes wait for a side that reads slowly; one line may be larger.
const mostUnwritten = 1 << 20

// outbox holds the lines for one side until they are written. One goroutine writes them.
type outbox struct {
	mu      sync.Mutex
	changed sync.Cond
	lines   [][]byte
	size    int
	closed  bool // nothing more is taken
	broken  bool // nothing more is written

	done chan struct{} // closed when nothing more will be written
}

func newOutbox() *outbox {
	o := &outbox{done: make(chan struct{})}
	o.changed.L = &o.mu
	return o
}

// put adds a line, and waits while too many wait. What comes after the end is dropped.
func (o *outbox) put(line []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for !o.closed && o.size > 0 && o.size+len(line) > mostUnwritten {
		o.changed.Wait()
	}
	if o.closed {
		return
	}
	o.lines = append(o.lines, line)
	o.size += len(line)
	o.changed.Broadcast()
}

// close says that no more lines come. Those that wait are written.
func (o *outbox) close() {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	o.changed.Broadcast()
}

// abandon drops what waits. A write that hangs is left to the one who closes the stream.
func (o *outbox) abandon() {
	o.mu.Lock()
	o.closed, o.broken = true, true
	o.lines, o.size = nil, 0
	o.mu.Unlock()
	o.changed.Broadcast()
}

// write writes the lines until the outbox is closed and empty. The error is that of a write,
// after which nothing more is written.
func (o *outbox) write(to io.Writer) error {
	defer close(o.done)
	var batch []byte
	for {
		lines := o.take()
		if lines == nil {
			return nil
		}
		for len(lines) > 0 {
			batch = append(append(batch[:0], lines[0]...), '\n')
			for lines = lines[1:]; len(lines) > 0 && len(batch)+len(lines[0]) < mostAtOnce; lines = lines[1:] {
				batch = append(append(batch, lines[0]...), '\n')
			}
			if _, err := to.Write(batch); err != nil {
				o.abandon()
				return err
			}
			if cap(batch) > mostAtOnce {
				batch = nil
			}
		}
	}
}

// mostAtOnce is how many bytes of short lines are written at once.
const mostAtOnce = 64 << 10

// take waits for lines. It returns nil when no more come.
func (o *outbox) take() [][]byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.lines) == 0 && !o.closed {
		o.changed.Wait()
	}
	if o.broken || len(o.lines) == 0 {
		return nil
	}
	lines := o.lines
	o.lines, o.size = nil, 0
	o.changed.Broadcast()
	return lines
}
