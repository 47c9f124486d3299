package rpc

import (
	"errors"
	"io"
	"time"
)

// Conn is both directions of a line stream. Its Send, Recv and Close are those
// of jrpc2's channel.Channel; unlike most such channels it can go on after an
// error of Recv when that is a [TooLongError].
type Conn struct {
	reader *Reader
	writer *Writer
	in     io.Reader
	out    io.Writer
}

// NewConn reads lines of at most limit bytes (zero: [DefaultLimit]) from in and
// writes lines to out. The two may be the same value, a socket.
func NewConn(in io.Reader, out io.Writer, limit int64) *Conn {
	return &Conn{reader: NewReader(in, limit), writer: NewWriter(out), in: in, out: out}
}

// Recv returns the next line; see [Reader.Next].
func (c *Conn) Recv() ([]byte, error) { return c.reader.Next() }

// Release gives back the memory that reading took. Nobody may be in Recv, which returns
// [io.EOF] from now on.
func (c *Conn) Release() { c.reader.Release() }

// Send writes one line; see [Writer.Write].
func (c *Conn) Send(message []byte) error { return c.writer.Write(message) }

// CloseRead makes a waiting Recv return, and leaves the other direction open.
func (c *Conn) CloseRead() error {
	if d, ok := c.in.(interface{ SetReadDeadline(time.Time) error }); ok {
		if err := d.SetReadDeadline(time.Unix(1, 0)); err == nil {
			return nil
		}
	}
	if closer, ok := c.in.(io.Closer); ok && any(c.in) != any(c.out) {
		return closer.Close()
	}
	return nil
}

// Close closes both directions, where they can be closed.
func (c *Conn) Close() error {
	var errs []error
	if closer, ok := c.out.(io.Closer); ok {
		errs = append(errs, closer.Close())
	}
	if closer, ok := c.in.(io.Closer); ok && any(c.in) != any(c.out) {
		errs = append(errs, closer.Close())
	}
	return errors.Join(errs...)
}
