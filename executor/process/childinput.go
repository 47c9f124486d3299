package process

import "time"

// inputWriter writes messages into a child's stdin without blocking its owner.
type inputWriter struct {
	done    chan struct{} // closed when the last message is written; nil while none had to wait
	written *int64        // bytes of the last message that are in the pipe; stands when done is closed
}

// Send writes a message, and closes stdin after it if it is the last. What the pipe
// takes is written at once, so an ordinary message costs one system call. A goroutine
// writes the rest, so the owner is free to read what the program writes meanwhile.
// Whether the program reads the message shows in what it answers.
func (c *Child) Send(pieces [][]byte, last bool) {
	in := new(int64)
	c.input.written = in
	if c.input.done == nil {
		all := inputSize(pieces)
		pieces = writeNow(c.Stdin, pieces)
		*in = int64(all - inputSize(pieces))
		if len(pieces) == 0 {
			if last {
				c.Stdin.Close()
			}
			return
		}
	}
	before, done := c.input.done, make(chan struct{})
	c.input.done = done
	go func() { // ends when the program reads or ends, or stdin is closed
		defer close(done)
		if before != nil {
			<-before
		}
		for _, piece := range pieces {
			n, err := c.Stdin.Write(piece)
			if *in += int64(n); err != nil {
				break
			}
		}
		if last {
			c.Stdin.Close()
		}
	}()
}

// InputUnread reports whether an idle child that has ended has certainly read nothing
// of the last message: all that was written of it is still in the pipe, or nothing
// was written, because the child had been reaped before. It is false where that
// cannot be known. Nothing can be sent afterwards.
func (c *Child) InputUnread() bool {
	if c.input.done != nil {
		c.Stdin.SetWriteDeadline(time.Unix(1, 0))
		<-c.input.done
	}
	return c.input.written != nil && (*c.input.written == 0 || int64(bytesInPipe(c.idle.theirStdin)) >= *c.input.written)
}
