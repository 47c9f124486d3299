package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// mostNoise is how many lines that are no messages a server may write to its
// stdout. It should write none, but banners are common.
const mostNoise = 1000

// lineReader reads messages from the stdout of a server, one a line.
type lineReader struct {
	in    *bufio.Reader
	limit int
	noise int    // lines so far that were no message
	first string // the first of them, cut
}

func newLineReader(in io.Reader, limit int) *lineReader {
	return &lineReader{in: bufio.NewReaderSize(in, 64<<10), limit: limit}
}

// next returns the messages of the next line that has some: one, or several
// where the line is a batch. The error is io.EOF at the end.
func (l *lineReader) next() ([]jsonrpc.Message, error) {
	for {
		line, err := l.line()
		if len(line) == 0 && err != nil {
			return nil, err
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if line[0] != '{' && line[0] != '[' {
			if err := l.ignore(line); err != nil {
				return nil, err
			}
			continue
		}
		return decodeLine(line)
	}
}

// line reads up to the end of a line. A last line needs no end.
func (l *lineReader) line() ([]byte, error) {
	var line bytes.Buffer // grows in larger steps than append does
	for {
		piece, err := l.in.ReadSlice('\n')
		if line.Len()+len(piece) > l.limit {
			return nil, fmt.Errorf("wrote a message of more than %d bytes", l.limit)
		}
		line.Write(piece)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line.Bytes(), err
		}
	}
}

func (l *lineReader) ignore(line []byte) error {
	if l.noise++; l.noise == 1 {
		l.first = sample(line)
	}
	if l.noise > mostNoise {
		return fmt.Errorf("writes other text than messages of MCP to its stdout: %s", l.first)
	}
	return nil
}

// decodeLine decodes one message, or the batch that the revision 2025-03-26
// allows.
func decodeLine(line []byte) ([]jsonrpc.Message, error) {
	pieces := []jsontext.Value{line}
	if line[0] == '[' {
		var err error
		if pieces, err = elements(line); err != nil {
			return nil, noMessage(line, err)
		}
	}
	var list []jsonrpc.Message
	for _, piece := range pieces {
		message, err := jsonrpc.DecodeMessage(piece)
		if err != nil {
			return nil, noMessage(piece, err)
		}
		list = append(list, message)
	}
	if len(list) == 0 {
		return nil, noMessage(line, errors.New("the batch is empty"))
	}
	return list, nil
}

func elements(line []byte) (list []jsontext.Value, err error) {
	d := jsontext.NewDecoder(bytes.NewReader(line))
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	for d.PeekKind() != ']' {
		piece, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		list = append(list, piece.Clone())
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return nil, errors.New("there is more behind the batch")
	}
	return list, nil
}

func noMessage(line []byte, err error) error {
	return fmt.Errorf("wrote a line that is no message of MCP (%w): %s", err, sample(line))
}

// sample is the beginning of a server's text, for an error.
func sample(text []byte) string {
	const most = 200
	if len(text) > most {
		return string(bytes.ToValidUTF8(text[:most], []byte("\uFFFD"))) + " …"
	}
	return string(bytes.ToValidUTF8(text, []byte("\uFFFD")))
}
