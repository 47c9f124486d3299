package process

import (
	"os"

	"golang.org/x/sys/unix"
)

func writePieces(fd int, pieces [][]byte) (int, error) { return unix.Writev(fd, pieces) }

// bytesInPipe is how many bytes a pipe holds, -1 if that cannot be told.
func bytesInPipe(f *os.File) int {
	raw, err := f.SyscallConn()
	if err != nil {
		return -1
	}
	n := -1
	_ = raw.Control(func(fd uintptr) {
		if held, err := unix.IoctlGetInt(int(fd), unix.TIOCINQ); err == nil {
			n = held
		}
	})
	return n
}
