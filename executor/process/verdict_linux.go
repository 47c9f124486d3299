package process

import (
	"encoding/binary"
	"syscall"

	"golang.org/x/sys/unix"
)

// verdict is what a shim reports of its program, once.
type verdict struct {
	kind  verdictKind
	value uint32
}

type verdictKind uint32

const (
	verdictNone   verdictKind = iota // the shim died without a word
	verdictEnded                     // value: wait status
	verdictFailed                    // the program could not be started; value: errno
)

const verdictSize = 8

func (v verdict) bytes() []byte {
	b := binary.NativeEndian.AppendUint32(nil, uint32(v.kind))
	return binary.NativeEndian.AppendUint32(b, v.value)
}

func readVerdict(fd int) verdict {
	var b [verdictSize]byte
	for {
		n, err := unix.Read(fd, b[:])
		if err == unix.EINTR {
			continue
		}
		if n != verdictSize {
			return verdict{}
		}
		return verdict{
			kind:  verdictKind(binary.NativeEndian.Uint32(b[:4])),
			value: binary.NativeEndian.Uint32(b[4:]),
		}
	}
}

// err is the reason why the program was not started, nil if it was.
func (v verdict) err() error {
	if v.kind == verdictFailed {
		return &shimError{errno: syscall.Errno(v.value)}
	}
	return nil
}

// ending returns the program's exit code, or -1 and its signal. A shim that
// died without a word was killed, and its program with it.
func (v verdict) ending() (int, string) {
	if v.kind != verdictEnded {
		return -1, "SIGKILL"
	}
	return decode(syscall.WaitStatus(v.value))
}
