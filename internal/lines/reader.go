package lines

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
)

// bufferSize is how much is read at once, in bytes.
const bufferSize = 64 << 10

// TooLongError says that a line was longer than the limit and was skipped.
type TooLongError struct {
	Size, Limit int64  // bytes, without the newline
	Start       []byte // the first bytes of the line, at most 256
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("line of %d bytes is longer than the limit of %d bytes", e.Size, e.Limit)
}

// Options say how lines are read. The zero value reads lines of any length.
type Options struct {
	// Limit is the longest line in bytes, without its newline. 0 means no limit.
	Limit int64
	// Reuse returns each line in memory that the next call of Next overwrites.
	Reuse bool
	// Skipped, if set, is given each line that is too long piece by piece, as it is read.
	// It must not keep a piece.
	Skipped func(piece []byte)
}

// Reader cuts a stream into lines. It is not safe for concurrent use.
type Reader struct {
	in      *bufio.Reader
	options Options
	buffer  []byte // the last line, with Reuse
}

// NewReader returns a Reader of lines from r.
func NewReader(r io.Reader, options Options) *Reader {
	in := buffers.Get().(*bufio.Reader)
	in.Reset(r)
	return &Reader{in: in, options: options}
}

// buffers are free. Who reads from many short streams would otherwise fill the heap
// with them.
var buffers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, bufferSize) }}

// Release ends the reading: Next returns io.EOF from now on. It may be called when no other
// goroutine reads, and spares others memory.
func (r *Reader) Release() {
	if r.in != nil {
		r.in.Reset(nil) // what was read belongs to the one who read it
		buffers.Put(r.in)
		r.in = nil
	}
}

// Next returns the next line without its newline, and whether it had one: only the
// last line of a stream may lack it. Without Reuse the slice belongs to the caller.
// The error is [io.EOF] at the end of the stream, a [TooLongError] for a line that was
// skipped, or the error of the underlying reader; with an error there is no line,
// except that one of the underlying reader comes with what it cut off.
func (r *Reader) Next() (line []byte, ended bool, err error) {
	if r.in == nil {
		return nil, false, io.EOF
	}
	line = r.buffer[:0]
	for {
		piece, err := r.in.ReadSlice('\n')
		ended := err == nil
		if ended {
			piece = piece[:len(piece)-1]
		}
		if size := int64(len(line) + len(piece)); r.options.Limit > 0 && size > r.options.Limit {
			start := bytes.Clone(line[:min(len(line), 256)])
			start = append(start, piece[:min(len(piece), 256-len(start))]...)
			r.skipped(line)
			r.skipped(piece)
			return nil, false, r.skip(&TooLongError{Size: size, Limit: r.options.Limit, Start: start}, ended)
		}
		// Growing doubles the memory; append alone would copy a large line more often.
		if len(line)+len(piece) > cap(line) {
			line = slices.Grow(line, len(line)+len(piece))
		}
		line = append(line, piece...)
		if r.options.Reuse {
			r.buffer = line
		}
		switch {
		case ended:
			return line, true, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0:
			return line, false, nil // the next call meets the end of the stream again
		default:
			return line, false, err
		}
	}
}

// skip reads to the end of a line that is too long and keeps nothing of it.
func (r *Reader) skip(long *TooLongError, ended bool) error {
	for !ended {
		piece, err := r.in.ReadSlice('\n')
		long.Size += int64(len(piece))
		r.skipped(piece)
		if err == nil {
			long.Size, ended = long.Size-1, true
		} else if !errors.Is(err, bufio.ErrBufferFull) {
			break // the next call meets what ended the stream again
		}
	}
	return long
}

func (r *Reader) skipped(piece []byte) {
	if r.options.Skipped != nil {
		r.options.Skipped(piece)
	}
}
