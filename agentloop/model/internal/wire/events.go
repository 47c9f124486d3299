package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/hookd-dev/hookd/agentloop/model"
)

// maxEvent is the size of one event's data, and of one line.
const maxEvent = 8 << 20

// Event is one server-sent event. Its data is valid until the next one is read.
type Event struct {
	Name string // of its line event:, "" without one
	Data []byte
}

// Events reads server-sent events (WHATWG HTML, section 9.2): lines
// end with LF, CR or CRLF, a line of the form ":…" is a comment, data in several
// lines is joined by LF. A last event without its empty line counts, since some
// servers close the connection after it. It ends with the reader's error, if
// that is not io.EOF.
func Events(from io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		lines := bufio.NewScanner(from)
		lines.Buffer(nil, maxEvent)
		lines.Split(new(lineSplitter).split)
		var event Event
		var any bool // data came
		for lines.Scan() {
			line := lines.Bytes()
			if len(line) == 0 {
				if any && !yield(event, nil) {
					return
				}
				event, any = Event{Data: event.Data[:0]}, false
				continue
			}
			name, value, _ := bytes.Cut(line, []byte(":"))
			value = bytes.TrimPrefix(value, []byte(" "))
			switch string(bytes.TrimPrefix(name, []byte("\xef\xbb\xbf"))) {
			case "data":
			case "event":
				event.Name = string(value)
				continue
			default:
				continue
			}
			if any {
				event.Data = append(event.Data, '\n')
			}
			event.Data, any = append(event.Data, value...), true
			if len(event.Data) > maxEvent {
				yield(Event{}, tooLong())
				return
			}
		}
		switch err := lines.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			yield(Event{}, tooLong())
		case err != nil:
			yield(Event{}, err)
		case any:
			yield(event, nil)
		}
	}
}

func tooLong() *model.Error {
	return &model.Error{Err: fmt.Errorf("the server sent an event of more than %d MiB", maxEvent>>20)}
}

// lineSplitter splits at LF, CR and CRLF without waiting for the byte after a
// CR.
type lineSplitter struct {
	afterCR bool
	seen    int // bytes of the line so far that hold no end, so that none is looked at twice
}

func (s *lineSplitter) split(data []byte, atEOF bool) (int, []byte, error) {
	skip := 0
	if s.afterCR && len(data) > 0 {
		if data[0] == '\n' {
			skip = 1
		}
		s.afterCR = false
	}
	rest := data[skip:]
	if i := bytes.IndexAny(rest[s.seen:], "\r\n"); i >= 0 {
		i += s.seen
		s.seen, s.afterCR = 0, rest[i] == '\r'
		return skip + i + 1, rest[:i], nil
	}
	if atEOF && len(rest) > 0 {
		s.seen = 0
		return len(data), rest, nil
	}
	s.seen = len(rest)
	return skip, nil, nil
}
