package executor

import (
	"bytes"
	"context"

	"github.com/hookd-dev/hookd/executor/process"
)

// heard is what a kept process wrote after it was given its event.
type heard struct {
	out    []byte // all of it, up to the limit; with an answer, up to its end
	behind int    // bytes that came with the answer, behind it
	notes  int    // of a resident hook: lines that are no answer
	end    hearingEnd
}

type hearingEnd int

const (
	heardAnswer hearingEnd = iota // out ends with the answer
	heardAll                      // it closed its stdout, or ended
	heardLimit                    // the context ended
	heardFlood                    // more than the limit
)

// replyLimit is how much a hook may write for one event.
func replyLimit(q *Question) int64 {
	if q.Limits.Reply <= 0 { // a question that is asked without an executor
		return process.DefaultStdoutLimit
	}
	return q.Limits.Reply
}

// speaker is a kept process as far as it is listened to; see [process.Child].
type speaker interface {
	Read(buffer []byte) (int, error)
	ReadBuffered(buffer []byte) []byte
	Interrupt()
}

// listen reads what a process says until it has answered. answers is asked about
// each line when it is finished, with everything from the question to its end and
// where the line begins; an error of it ends the turn as a flood does.
//
// The bytes go from the pipe into one buffer and nowhere else: an ordinary answer
// costs one read.
func listen(ctx context.Context, child speaker, limit int64, answers func(out []byte, line int) (bool, error)) heard {
	wake := context.AfterFunc(ctx, child.Interrupt)
	defer wake()
	h := heard{out: make([]byte, 0, 1024)}
	line := 0
	for {
		if len(h.out) == cap(h.out) {
			h.out = append(h.out, 0)[:len(h.out)]
		}
		n, err := child.Read(h.out[len(h.out):cap(h.out)])
		if err != nil {
			n = len(child.ReadBuffered(h.out[len(h.out):cap(h.out)]))
		}
		began := len(h.out)
		h.out = h.out[:began+n]
		for {
			i := bytes.IndexByte(h.out[max(line, began):], '\n')
			if i < 0 {
				break
			}
			end := max(line, began) + i + 1
			answered, flood := false, error(nil)
			if int64(end) <= limit+1 {
				answered, flood = answers(h.out[:end], line)
			}
			if answered {
				h.out, h.behind, h.end = h.out[:end], len(h.out)-end, heardAnswer
				return h
			}
			if flood != nil {
				h.end = heardFlood
				return h
			}
			line = end
		}
		switch {
		case int64(len(h.out)) > limit:
			h.out, h.end = h.out[:limit], heardFlood
			return h
		case err == nil || n > 0:
		case ctx.Err() != nil:
			h.end = heardLimit
			return h
		default:
			h.end = heardAll
			return h
		}
	}
}
