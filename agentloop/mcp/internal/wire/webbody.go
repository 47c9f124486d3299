package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// webBody is the body of a web server's answer, bounded, in which each message
// that answers a request bears that request's id: a message as a whole, or a
// stream of events with one in each.
type webBody struct {
	from    io.ReadCloser
	limit   int
	pending *pendingRequests
	only    int64 // the one request that is answered, 0 if it may be any
	release func()

	next  func() ([]byte, error) // the next piece of the body, io.EOF at its end
	piece []byte
	lines *bufio.Reader // of a stream
}

// understand finds out what the body is. A call that is answered with something
// else than a message has no answer; the SDK would say so only to the first.
func (b *webBody) understand(response *http.Response) error {
	kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	good := response.StatusCode/100 == 2
	switch {
	case good && kind == "application/json" && err == nil:
		b.next = b.message
	case good && kind == "text/event-stream" && err == nil:
		b.lines = bufio.NewReaderSize(b.from, 16<<10)
		b.next = b.event
	case good && b.only != 0:
		if kind == "" {
			kind = "no content"
		}
		return &RefusedError{fmt.Sprintf("it answered with %s where a message of MCP must be (status %d); is the address right?", Clip(kind, 80), response.StatusCode)}
	default:
		b.next = b.plain
	}
	return nil
}

func (b *webBody) Read(p []byte) (int, error) {
	for len(b.piece) == 0 {
		var err error
		if b.piece, err = b.next(); err != nil && len(b.piece) == 0 {
			return 0, err
		}
	}
	n := copy(p, b.piece)
	b.piece = b.piece[n:]
	return n, nil
}

func (b *webBody) Close() error {
	defer b.release()
	return b.from.Close()
}

func (b *webBody) plain() ([]byte, error) {
	piece := make([]byte, 4<<10)
	n, err := b.from.Read(piece)
	if b.limit -= n; b.limit < 0 {
		return nil, errors.New("its answer is too long")
	}
	return piece[:n], err
}

// message is the whole body.
func (b *webBody) message() ([]byte, error) {
	var whole bytes.Buffer
	n, err := io.Copy(&whole, io.LimitReader(b.from, int64(b.limit)+1))
	switch {
	case n > int64(b.limit):
		return nil, fmt.Errorf("its answer is over %d bytes", b.limit)
	case err != nil:
		return nil, err
	}
	b.next = func() ([]byte, error) { return nil, io.EOF }
	return b.resolved(bytes.TrimPrefix(whole.Bytes(), byteOrderMark)), nil
}

// event is the next event of a stream, to its empty line. What is cut off at the
// end is no event.
func (b *webBody) event() ([]byte, error) {
	var whole, data, rest bytes.Buffer
	for {
		line, err := b.lines.ReadSlice('\n')
		if whole.Len()+len(line) > b.limit {
			return nil, fmt.Errorf("its answer has an event of over %d bytes", b.limit)
		}
		begun := whole.Len()
		whole.Write(line)
		for errors.Is(err, bufio.ErrBufferFull) {
			if line, err = b.lines.ReadSlice('\n'); whole.Len()+len(line) > b.limit {
				return nil, fmt.Errorf("its answer has an event of over %d bytes", b.limit)
			}
			whole.Write(line)
		}
		if err != nil {
			return whole.Bytes(), err
		}
		text := bytes.TrimRight(whole.Bytes()[begun:], "\r\n")
		said, is := bytes.CutPrefix(text, []byte("data:"))
		switch {
		case is:
			data.Write(bytes.TrimPrefix(said, []byte(" ")))
			data.WriteByte('\n')
		case len(text) > 0:
			rest.Write(text)
			rest.WriteByte('\n')
		case data.Len() == 0:
			return whole.Bytes(), nil
		default:
			return b.rewritten(whole.Bytes(), rest.Bytes(), bytes.TrimSpace(data.Bytes())), nil
		}
	}
}

// rewritten returns the event as the server wrote it, if its message is passed on as it
// is.
func (b *webBody) rewritten(whole, rest, data []byte) []byte {
	resolved := b.resolved(data)
	if bytes.Equal(resolved, data) {
		return whole
	}
	events := bytes.NewBufferString(": \n\n") // at least this, so that reading goes on
	for line := range bytes.Lines(resolved) {
		fmt.Fprintf(events, "%sdata: %s\n\n", rest, bytes.TrimSpace(line))
	}
	return events.Bytes()
}

// resolved returns the text of a message. If it is an answer, that is what the SDK is to
// read in its place: most often the same, else one or more, each a line.
func (b *webBody) resolved(text []byte) []byte {
	e, is := readMessage(bytes.TrimSpace(text))
	if !is || !e.isAnswer() {
		return text
	}
	id, named := idOf(e.ID)
	answers := b.pending.resolve(&e, b.only)
	if len(answers) == 1 && named && e.ID[0] != '"' && answers[0].ID == numberID(id) && answers[0].Error == nil && len(answers[0].Result) == len(e.Result) {
		return text
	}
	var out [][]byte
	for _, answer := range answers {
		line, err := jsonrpc.EncodeMessage(answer)
		if err != nil {
			return text
		}
		out = append(out, line)
	}
	return bytes.Join(out, []byte("\n"))
}

// RefusedError is an answer that is not accepted: a redirection that is not
// followed, or a page in the place of a message.
type RefusedError struct{ text string }

func (e *RefusedError) Error() string { return e.text }
