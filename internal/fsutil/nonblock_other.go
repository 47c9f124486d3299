//go:build !unix

package fsutil

// nonblock is nothing here: opening never waits for another program.
const nonblock = 0
