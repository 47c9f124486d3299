//go:build !linux

package process

import (
	"os"
	"time"
)

// stdoutReader is our end of an idle program's stdout.
type stdoutReader struct{ out *os.File }

// openStdoutReader returns the reader and the end that the program writes to.
func openStdoutReader() (e *stdoutReader, theirs *os.File, err error) {
	ours, theirs, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	return &stdoutReader{ours}, theirs, nil
}

// read waits for what the program writes next. After interrupt its error is
// [os.ErrDeadlineExceeded].
func (e *stdoutReader) read(buffer []byte) (int, error) { return e.out.Read(buffer) }

// interrupt makes every read return, now and from now on.
func (e *stdoutReader) interrupt() { e.out.SetReadDeadline(time.Unix(1, 0)) }

func (e *stdoutReader) close() { e.out.Close() }
