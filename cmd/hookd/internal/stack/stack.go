// Package stack gives the main goroutine at once the stack that a command needs,
// for whoever links it.
//
// Left to itself the stack begins at 2 KiB and is doubled and copied five times
// during the start. Each copy touches new memory, and for each frame the tables of
// the function it belongs to, which lie all over the program: 20 of 500 pages of a
// start of hookd fire. The package imports nothing, so Go initialises it before
// all packages that do.
package stack

// enough is how deep a start of hookd fire gets, less than what the next size of
// a stack holds.
const enough = 24 << 10

var _ = grow(0)

// grow needs the room to be called. It does not come to using it, which would
// touch all of it.
//
//go:noinline
func grow(n int) byte {
	if n == 0 {
		return 0
	}
	var room [enough]byte
	return room[n]
}
