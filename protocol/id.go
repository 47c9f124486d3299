package protocol

import (
	"math/rand/v2"
	"sync"
	"time"
)

// NewID returns a ULID: 48 bits of time in milliseconds and 80 random ones, as 26
// letters and digits that sort by time. Those of one process rise, within a
// millisecond too. It may be called concurrently.
//
// It is written out here because the library for it seeds a random source of 5
// KiB in every process that links it.
func NewID() string { return ids.next(time.Now()).String() }

// id is the 128 bits of a ULID.
type id struct{ high, low uint64 }

// ids are those of this process.
var ids idSequence

type idSequence struct {
	mu   sync.Mutex
	last id
}

// next is a fresh id, or the one after the last where that would not be greater.
func (s *idSequence) next(now time.Time) id {
	fresh := id{uint64(now.UnixMilli())<<16 | rand.Uint64()>>48, rand.Uint64()}
	s.mu.Lock()
	defer s.mu.Unlock()
	if fresh.high>>16 <= s.last.high>>16 {
		if fresh = s.last; fresh.low == ^uint64(0) {
			fresh.high++
		}
		fresh.low++
	}
	s.last = fresh
	return fresh
}

// String writes an id in Crockford's base 32.
func (i id) String() string {
	const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	var text [26]byte
	high, low := i.high, i.low
	for at := len(text) - 1; at >= 0; at-- {
		text[at] = digits[low&31]
		high, low = high>>5, low>>5|high<<59
	}
	return string(text[:])
}
