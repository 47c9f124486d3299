package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
)

// lineReader reads messages from the stdout of a server, one a line.
type lineReader struct {
	in    *bufio.Reader
	limit int
	// other is called with each line that is no message. A server should write
	// none, but banners and logs are common.
	other func(line []byte) error
}

func newLineReader(in io.Reader, limit int, other func([]byte) error) *lineReader {
	return &lineReader{in: bufio.NewReaderSize(in, 64<<10), limit: limit, other: other}
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// next returns the messages of the next line that has some: one, or several
// where the line is a batch. The error is io.EOF at the end.
func (l *lineReader) next() ([]message, error) {
	for {
		line, err := l.line()
		if len(line) == 0 && err != nil {
			return nil, err
		}
		line = bytes.TrimSpace(bytes.TrimPrefix(line, byteOrderMark))
		if len(line) == 0 {
			continue
		}
		messages, err := readMessages(line)
		if err != nil || len(messages) > 0 {
			return messages, err
		}
		if err := l.other(line); err != nil {
			return nil, err
		}
	}
}

// line reads up to the end of a line. A last line needs no end.
func (l *lineReader) line() ([]byte, error) {
	var line bytes.Buffer // grows in larger steps than append does
	for {
		piece, err := l.in.ReadSlice('\n')
		if line.Len()+len(piece) > l.limit {
			return nil, fmt.Errorf("wrote a line of more than %d bytes: %s", l.limit, sample(line.Bytes()))
		}
		line.Write(piece)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line.Bytes(), err
		}
	}
}

// strayText is the text that a server writes to its stdout besides messages. Only the
// goroutine that reads writes to it.
type strayText struct {
	limit  int
	bytes  int // since the last message
	report Report

	mu    sync.Mutex
	first string // line, cut
}

// add adds a line. A text of more than the limit without a message is no banner any more.
func (t *strayText) add(line []byte) error {
	first := t.firstLine()
	if first == "" {
		first = sample(line)
		t.mu.Lock()
		t.first = first
		t.mu.Unlock()
		t.report("chatter", "writes other text than messages to its stdout, which is passed over: "+first)
	}
	if t.bytes += len(line); t.bytes > t.limit {
		return fmt.Errorf("writes other text than messages of MCP to its stdout: %s", first)
	}
	return nil
}

func (t *strayText) firstLine() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.first
}
