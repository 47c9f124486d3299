package rpc

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/hookd-dev/hookd/internal/lines"
)

// DefaultLimit is the longest line that is read when no other limit is given:
// 32 MiB, the default of hooks.limits.event.
const DefaultLimit = 32 << 20

// TooLongError says that a line was longer than the limit and was skipped. The
// reader that returned it goes on with the next line.
type TooLongError = lines.TooLongError

// Reader cuts a stream into lines. It is not safe for concurrent use.
type Reader struct{ lines *lines.Reader }

// NewReader reads lines of at most limit bytes from r; zero means
// [DefaultLimit].
func NewReader(r io.Reader, limit int64) *Reader {
	if limit <= 0 {
		limit = DefaultLimit
	}
	return &Reader{lines.NewReader(r, lines.Options{Limit: limit})}
}

// Next returns the next line without its newline. The slice belongs to the
// caller. A last line that lacks its newline is returned like any other: half a
// JSON object is never a valid one, so it cannot be mistaken for a message.
// Blank lines are skipped. The error is [io.EOF] at the end of the stream and a
// [TooLongError] for a line that was skipped.
func (r *Reader) Next() ([]byte, error) {
	for {
		line, _, err := r.lines.Next()
		if err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(line)) > 0 {
			return line, nil
		}
	}
}

// Release ends the reading, as [lines.Reader.Release] does.
func (r *Reader) Release() { r.lines.Release() }

// ErrNewline is returned by [Writer.Write] for a message that holds a newline.
var ErrNewline = errors.New("message holds a newline")

// Writer writes messages as lines. It is safe for concurrent use; lines never
// mix.
type Writer struct {
	mu  sync.Mutex
	w   io.Writer
	err error
}

// NewWriter writes lines to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write writes message and a newline in one call of the underlying writer. It
// may use the spare capacity of message. After an error of the underlying
// writer part of a line may stand on the stream, so every later call fails with
// the same error.
func (w *Writer) Write(message []byte) error {
	if bytes.IndexByte(message, '\n') >= 0 {
		return ErrNewline
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	_, w.err = w.w.Write(append(message, '\n'))
	return w.err
}
