//go:build !linux

package process

import (
	"os"
	"time"
)

// ear is our end of a parked program's stdout.
type stdoutReader struct{ out *os.File }

// openEar returns the ear and the end that the program writes to.
func openStdoutReader() (e *stdoutReader, theirs *os.File, err error) {
	ours, theirs, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	return &stdoutReader{ours}, theirs, nil
}

// hear waits for what the program writes next, or until nobody is to wait any
// more, which is [os.ErrDeadlineExceeded].
func (e *stdoutReader) read(buffer []byte) (int, error) { return e.out.Read(buffer) }

// hush frees whoever waits, now and from now on.
func (e *stdoutReader) interrupt() { e.out.SetReadDeadline(time.Unix(1, 0)) }

func (e *stdoutReader) close() { e.out.Close() }
