package mcphttp

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/lines"
	"github.com/hookd-dev/hookd/protocol/rpc"
)

// stream reads server-sent events, and remembers where it is.
type stream struct {
	limit  int64
	last   string        // the id of the last event, "" if they have none
	pause  time.Duration // before the stream is taken up again
	lost   bool          // a message was too long to be kept
	awaits string        // the name of an event that take is called with besides messages, "" for none
	name   string        // of the event that take is called with, "" if it has none
}

// tooLong is a message that was too long to be kept.
type tooLong struct {
	*lines.TooLongError
	answers []byte // id of the request that it answers, nil: it is not known, or none
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// read calls take with the message of each event until the events end or take returns false. long
// stands for a message that was too long. Events of other names, as some servers send to keep a
// stream alive, hold none.
func (s *stream) read(body io.Reader, take func(message []byte, long *tooLong) bool) error {
	about := &rpc.Overlong{}
	reader := lines.NewReader(&newlines{from: body}, lines.Options{Limit: s.limit, Skipped: func(piece []byte) { about.Add(piece) }})
	defer reader.Release()
	e := event{}
	for first := true; ; first = false {
		line, ended, err := reader.Next()
		if long := (*lines.TooLongError)(nil); errors.As(err, &long) {
			e.tooLong(long, about)
			*about = rpc.Overlong{}
			continue
		}
		if err != nil || !ended { // an event that has not ended does not count
			if err == nil || errors.Is(err, io.EOF) {
				return io.ErrUnexpectedEOF
			}
			return err
		}
		if first {
			line = bytes.TrimPrefix(line, byteOrderMark)
		}
		switch {
		case len(line) > 0:
			s.field(&e, line)
			continue
		case e.name != "" && e.name != "message" && e.name != s.awaits:
			e = event{}
			continue
		case e.long != nil:
			s.lost, e.data = true, nil
		case !e.has:
			e = event{}
			continue
		}
		s.name = e.name
		if !take(jsonspan.OneLine(bytes.TrimSpace(e.data)), e.long) {
			return nil
		}
		e = event{}
	}
}

// event is an event that has not ended.
type event struct {
	name string
	data []byte
	has  bool // it has data
	long *tooLong
}

func (e *event) tooLong(long *lines.TooLongError, about *rpc.Overlong) {
	if bytes.HasPrefix(long.Start, []byte(":")) { // a comment
		return
	}
	e.long = &tooLong{TooLongError: long}
	if m, known := about.Message(); known && m.Method == "" && !e.has {
		e.long.answers = m.ID
	}
}

// field takes a line of an event.
func (s *stream) field(e *event, line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		if size := int64(len(e.data) + len(value)); size > s.limit {
			e.data, e.has, e.long = nil, true, &tooLong{TooLongError: &lines.TooLongError{Size: size, Limit: s.limit}}
			return
		}
		if e.has {
			e.data = append(e.data, '\n')
		}
		e.data, e.has = append(e.data, value...), true
	case "event":
		e.name = string(value)
	case "id":
		if bytes.IndexByte(value, 0) < 0 && len(value) <= 1024 {
			s.last = string(value)
		}
	case "retry":
		if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
			s.pause = max(shortPause, min(time.Duration(ms)*time.Millisecond, longPause))
		}
	}
}

// newlines reads lines that end with a carriage return, a newline or both as lines that end with
// a newline.
type newlines struct {
	from   io.Reader
	halved bool // a carriage return was read, whose newline may come
}

func (n *newlines) Read(p []byte) (count int, err error) {
	for count == 0 && err == nil && len(p) > 0 {
		count, err = n.from.Read(p)
		if !n.halved && bytes.IndexByte(p[:count], '\r') < 0 {
			continue
		}
		kept := p[:0]
		for _, c := range p[:count] {
			switch half := n.halved; {
			case c == '\r':
				kept, n.halved = append(kept, '\n'), true
				continue
			case c != '\n' || !half:
				kept = append(kept, c)
			}
			n.halved = false
		}
		count = len(kept)
	}
	return count, err
}
