package worker

import (
	"bytes"
	"context"

	"github.com/hookd-dev/hookd/protocol/readreply"
)

// output is what a worker wrote after it was given its event.
type output struct {
	text  []byte // all of it, up to the limit; with a reply, up to its end
	after int    // bytes that came with the reply, after it
	notes int    // of a resident hook: lines that are no reply
	end   End
}

// End says why the reading of a reply ended.
type End int

const (
	EndReply  End = iota // the text ends with the reply
	EndClosed            // the process closed its stdout, or ended
	EndLimit             // the context is done
	EndFlood             // more than the limit
	EndNotes             // too many lines that are no reply
)

// stdout is a worker as far as it is read; see [process.Child].
type stdout interface {
	Read(buffer []byte) (int, error)
	ReadBuffered(buffer []byte) []byte
	Interrupt()
}

// verdict is what a line means for the reading.
type verdict int

const (
	readOn verdict = iota
	isReply
	tooManyNotes
)

// readReply reads what a process writes until it has replied. judge is called for
// each whole line, with everything from the event to the line's end and where the
// line begins.
//
// The bytes go from the pipe into one buffer and nowhere else: an ordinary reply
// costs one read.
func readReply(ctx context.Context, child stdout, limit int64, judge func(text []byte, line int) verdict) output {
	stop := context.AfterFunc(ctx, child.Interrupt)
	defer stop()
	out := output{text: make([]byte, 0, 1024)}
	line := 0
	for {
		if len(out.text) == cap(out.text) {
			out.text = append(out.text, 0)[:len(out.text)]
		}
		n, err := child.Read(out.text[len(out.text):cap(out.text)])
		if err != nil {
			n = len(child.ReadBuffered(out.text[len(out.text):cap(out.text)]))
		}
		began := len(out.text)
		out.text = out.text[:began+n]
		for {
			i := bytes.IndexByte(out.text[max(line, began):], '\n')
			if i < 0 {
				break
			}
			end := max(line, began) + i + 1
			v := readOn
			if int64(end) <= limit+1 {
				v = judge(out.text[:end], line)
			}
			switch v {
			case isReply:
				out.text, out.after, out.end = out.text[:end], len(out.text)-end, EndReply
				return out
			case tooManyNotes:
				out.end = EndNotes
				return out
			}
			line = end
		}
		switch {
		case int64(len(out.text)) > limit:
			out.text, out.end = out.text[:limit], EndFlood
			return out
		case err == nil || n > 0:
		case ctx.Err() != nil:
			out.end = EndLimit
			return out
		default:
			out.end = EndClosed
			return out
		}
	}
}

// MaxNotes is how many lines without the event's id a resident process may write for
// one event.
const MaxNotes = 100

// readLine reads until a line repeats the event's id.
func readLine(ctx context.Context, child stdout, limit int64, id string) output {
	notes := 0
	out := readReply(ctx, child, limit, func(text []byte, line int) verdict {
		if readreply.Answers(text[line:], id) {
			return isReply
		}
		if notes++; notes > MaxNotes {
			return tooManyNotes
		}
		return readOn
	})
	out.notes = notes
	return out
}

// discardStale reads what a process wrote before it is asked, and returns how many
// bytes that were: nothing of it is a reply to the event. It stops at the limit.
func discardStale(child stdout, limit int64) (n int64) {
	var buffer [4096]byte
	for n < limit {
		got := len(child.ReadBuffered(buffer[:]))
		if n += int64(got); got == 0 {
			break
		}
	}
	return n
}

// lastLine returns the text after the last end of a line.
func lastLine(text []byte) []byte { return text[bytes.LastIndexByte(text, '\n')+1:] }
