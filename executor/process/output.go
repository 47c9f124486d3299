package process

import "unicode/utf8"

// output keeps what a program wrote to one descriptor: either everything up to
// a limit, or the last bytes only. Its memory is bounded either way.
type output struct {
	bytes []byte
	limit int64 // most bytes to keep
	tail  bool  // keep the last bytes, not the first
	cut   int64 // bytes dropped at the front
	over  bool  // more came than the limit, and tail is false

	stream func([]byte) // gets everything that comes, nil if nobody asks
}

// add takes the next bytes. They are copied.
func (o *output) add(p []byte) {
	if o.over || len(p) == 0 {
		return
	}
	if o.stream != nil {
		o.stream(p)
	}
	if !o.tail {
		if room := o.limit - int64(len(o.bytes)); int64(len(p)) > room {
			p, o.over = p[:room], true
		}
		o.bytes = append(o.bytes, p...)
		return
	}
	if int64(len(p)) >= o.limit {
		o.cut += int64(len(o.bytes)) + int64(len(p)) - o.limit
		o.bytes = append(o.bytes[:0], p[int64(len(p))-o.limit:]...)
		return
	}
	// Twice the tail is kept before the front is dropped, so that a flood is
	// moved once per tail and not once per read.
	if int64(len(o.bytes)+len(p)) > 2*o.limit {
		o.trim(o.limit - int64(len(p)))
	}
	o.bytes = append(o.bytes, p...)
}

// trim drops the front until at most keep bytes are left.
func (o *output) trim(keep int64) {
	if drop := int64(len(o.bytes)) - keep; drop > 0 {
		o.cut += drop
		o.bytes = o.bytes[:copy(o.bytes, o.bytes[drop:])]
	}
}

// take ends the collecting and returns the bytes and how many came before them.
// A tail never begins inside a UTF-8 character.
func (o *output) take() ([]byte, int64) {
	if !o.tail {
		return o.bytes, 0
	}
	o.trim(o.limit)
	if o.cut > 0 {
		for i := 0; i < utf8.UTFMax-1 && len(o.bytes) > 0 && !utf8.RuneStart(o.bytes[0]); i++ {
			o.bytes = o.bytes[1:]
			o.cut++
		}
	}
	return o.bytes, o.cut
}
