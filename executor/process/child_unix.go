//go:build unix

package process

import (
	"os"
	"slices"
	"syscall"
)

// writeNow writes what a pipe takes at once and returns the rest. What stands in
// the way of more is met by the writer of that rest.
func writeNow(f *os.File, pieces [][]byte) [][]byte {
	raw, err := f.SyscallConn()
	if err != nil {
		return pieces
	}
	pieces = slices.Clone(pieces)
	_ = raw.Write(func(fd uintptr) bool {
		for len(pieces) > 0 {
			n, err := writePieces(int(fd), pieces)
			pieces = rest(pieces, n)
			if err != nil && err != syscall.EINTR {
				break
			}
		}
		return true
	})
	return pieces
}

// readNow reads what a pipe holds, up to the size of the buffer. It looks past a
// deadline that has come: what a program wrote before it ended is still there.
func readNow(f *os.File, buffer []byte) (n int) {
	raw, err := f.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) {
		for n < len(buffer) {
			got, err := syscall.Read(int(fd), buffer[n:])
			if err == syscall.EINTR {
				continue
			}
			if got <= 0 {
				break
			}
			n += got
		}
	})
	return n
}
