package relay

// Decision is what becomes of a message.
type Decision struct {
	pass   []byte // goes on to the other side
	answer []byte // goes back to the sender
	unless func() bool

	lane string
	ask  func() Decision
}

// Pass passes a line on: the message's own, or an edited one.
func Pass(line []byte) Decision { return Decision{pass: line} }

// PassIn passes a line on after the earlier messages of a lane.
func PassIn(lane string, line []byte) Decision { return Decision{pass: line, lane: lane} }

// Drop passes nothing on.
func Drop() Decision { return Decision{} }

// Answer sends a line back to the one who sent the message, which is not passed on.
func Answer(line []byte) Decision { return Decision{answer: line} }

// Later decides a message when ask returns, which is called on a goroutine of its own.
// Earlier messages of the same lane leave before it, and later ones after it, whatever is
// decided first; "" is no lane. ask may return a Later itself: the message then leaves its
// lane, and what is to become of it is decided without holding up others.
func Later(lane string, ask func() Decision) Decision { return Decision{lane: lane, ask: ask} }

// Unless returns the decision with a last look: nothing is sent if dropped returns true when
// it is the message's turn.
func (d Decision) Unless(dropped func() bool) Decision {
	d.unless = dropped
	return d
}
