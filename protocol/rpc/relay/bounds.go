package relay

import "sync"

// Bounds of what one side has in the relay without a decision.
const (
	mostHeld      = 256      // messages
	mostHeldBytes = 64 << 20 // one message may be larger
)

// held counts the messages of one direction that wait for their decisions. While there are
// too many, no more is read.
type held struct {
	mu       sync.Mutex
	changed  sync.Cond
	messages int
	bytes    int
	most     int // bytes
}

func newHeld() *held {
	h := &held{most: mostHeldBytes}
	h.changed.L = &h.mu
	return h
}

// take waits until another message may wait.
func (h *held) take(size int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.messages > 0 && (h.messages >= mostHeld || h.bytes+size > h.most) {
		h.changed.Wait()
	}
	h.messages++
	h.bytes += size
}

func (h *held) release(size int) {
	h.mu.Lock()
	h.messages--
	h.bytes -= size
	h.mu.Unlock()
	h.changed.Broadcast()
}

// queue waits until another message may wait for one that has no decision. Of these only the
// bytes count: many short ones must not keep what has nothing to do with them from being read.
func (h *held) queue(size int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.bytes > 0 && h.bytes+size > h.most {
		h.changed.Wait()
	}
	h.bytes += size
}

func (h *held) leave(size int) {
	h.mu.Lock()
	h.bytes -= size
	h.mu.Unlock()
	h.changed.Broadcast()
}

// wait returns when no message waits.
func (h *held) wait() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.messages > 0 {
		h.changed.Wait()
	}
}
