package chain

import (
	"io"
	"sync"
)

// mostUnread is how many bytes one side may have said that the proxy has not read: one line may
// be larger. It is large because an answer that the proxy waits for may be in the lines after
// them, which the conductor cannot send on another connection.
const mostUnread = 64 << 20

// lineCost is what a line costs apart from its bytes.
const lineCost = 256

// queue is what one side has said, as a stream of lines that the proxy reads.
type queue struct {
	mu      sync.Mutex
	changed sync.Cond
	lines   [][]byte
	at      int // in the first line
	size    int
	most    int
	closed  bool // nothing more is taken
}

func newQueue() *queue {
	q := &queue{most: mostUnread}
	q.changed.L = &q.mu
	return q
}

// put adds a line. With wait it waits while too much is unread.
func (q *queue) put(line []byte, wait bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	size := len(line) + lineCost
	for wait && !q.closed && q.size > 0 && q.size+size > q.most {
		q.changed.Wait()
	}
	if q.closed {
		return
	}
	q.lines = append(q.lines, append(line[:len(line):len(line)], '\n'))
	q.size += size
	q.changed.Broadcast()
}

// Read reads what was put, and waits for it.
func (q *queue) Read(p []byte) (n int, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.lines) == 0 {
		if q.closed {
			return 0, io.EOF
		}
		q.changed.Wait()
	}
	for n < len(p) && len(q.lines) > 0 {
		line := q.lines[0]
		taken := copy(p[n:], line[q.at:])
		n, q.at = n+taken, q.at+taken
		if q.at == len(line) {
			q.size -= len(line) - 1 + lineCost
			q.lines[0], q.lines, q.at = nil, q.lines[1:], 0
		}
	}
	q.changed.Broadcast()
	return n, nil
}

// finish ends the stream after what was put.
func (q *queue) finish() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.changed.Broadcast()
}

// drop ends the stream now.
func (q *queue) drop() {
	q.mu.Lock()
	q.closed = true
	q.lines, q.at, q.size = nil, 0, 0
	q.mu.Unlock()
	q.changed.Broadcast()
}
