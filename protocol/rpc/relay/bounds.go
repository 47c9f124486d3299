package relay

import "sync"

// Bounds of what one side has in the relay without a decision, or waits for one: in a lane, and in
// all of them. One message may have more bytes.
const (
	mostHeld           = 256 // messages without a decision
	mostHeldBytes      = 64 << 20
	lanesThatMayBeFull = 4
)

// held counts the messages of one direction that wait for decisions. While there are too many in
// the lane of the next one, no more is read: nobody can know what comes after it without keeping it.
// A lane that is full holds up no other one before that.
type held struct {
	mu      sync.Mutex
	changed sync.Cond
	all     load
	lanes   map[string]*load
	most    int // bytes in a lane
}

// load is what waits.
type load struct{ messages, bytes int }

func (l *load) isFull(more load, times, most int) bool {
	return l.messages > 0 && l.messages+more.messages > times*mostHeld && more.messages > 0 || l.bytes > 0 && l.bytes+more.bytes > times*most
}

func newHeld() *held {
	h := &held{most: mostHeldBytes, lanes: map[string]*load{}}
	h.changed.L = &h.mu
	return h
}

// take waits until another message may wait in a lane for its decision.
func (h *held) take(lane string, size int) { h.add(lane, load{1, size}) }

// queue waits until another message may wait for one that has no decision. Of these only the
// bytes count: many short ones must not keep what has nothing to do with them from being read.
func (h *held) queue(lane string, size int) { h.add(lane, load{0, size}) }

func (h *held) add(lane string, more load) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.all.isFull(more, lanesThatMayBeFull, h.most) || h.lanes[lane] != nil && h.lanes[lane].isFull(more, 1, h.most) {
		h.changed.Wait()
	}
	if h.lanes[lane] == nil {
		h.lanes[lane] = &load{}
	}
	for _, l := range []*load{&h.all, h.lanes[lane]} {
		l.messages += more.messages
		l.bytes += more.bytes
	}
}

// decided takes that a message waits no more for its decision, and leave that its bytes are gone.
func (h *held) decided(lane string)         { h.remove(lane, load{1, 0}) }
func (h *held) leave(lane string, size int) { h.remove(lane, load{0, size}) }

func (h *held) remove(lane string, less load) {
	h.mu.Lock()
	in := h.lanes[lane]
	for _, l := range []*load{&h.all, in} {
		l.messages -= less.messages
		l.bytes -= less.bytes
	}
	if *in == (load{}) {
		delete(h.lanes, lane)
	}
	h.mu.Unlock()
	h.changed.Broadcast()
}

// wait returns when no message waits.
func (h *held) wait() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.all.messages > 0 {
		h.changed.Wait()
	}
}
