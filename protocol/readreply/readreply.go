package readreply

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
)

// Limits bound what is read of a hook's reply. A zero field stands for its
// default; of State and Metadata below 0 none is kept.
type Limits struct {
	Size     int64 // bytes of stdout, 1 MiB
	Depth    int   // nesting of objects and lists, 512
	State    int64 // bytes, 64 KiB
	Metadata int64 // bytes, 16 KiB
}

func (l Limits) orDefault() Limits {
	if l.Size <= 0 {
		l.Size = protocol.DefaultReplySize
	}
	if l.Depth <= 0 {
		l.Depth = protocol.DefaultDepth
	}
	if l.State == 0 {
		l.State = 64 << 10
	}
	if l.Metadata == 0 {
		l.Metadata = 16 << 10
	}
	return l
}

// reasonExit is the reason of a block by exit code 2 that has none of its own.
const reasonExit = "refused by exit code 2, without a reason"

// ProcessEnd is how a hook's process ended, as far as the reading of its output
// needs to know.
type ProcessEnd struct {
	Exit   *int   // nil if there was no process or a signal ended it
	Signal string // SIGSEGV, if a signal ended it that hookd did not send

	// Failure is why there is no trustworthy end: timeout, budget, spawn,
	// output, lost, aborted and the like.
	Failure *protocol.Failure

	// Program are the names by which an interpreter that cannot run the hook's program
	// tells where: the program's path, and files among its arguments.
	Program []string

	// Output is what messages call the output. Default: stdout.
	Output string

	// Answered says that a standby or resident hook ended its turn by a reply
	// that repeats the event's id. Only such a reply counts then, and neither
	// exit code nor later output does.
	Answered bool
}

// Read returns what a hook's output and the way it ended mean. The first rule that fits
// counts:
//
//  1. A readable block or stop that this hook may give at this event counts, at
//     any exit code, signal or time-out, whatever else is wrong with it; only an
//     abort discards it. Of several the strongest counts, then the first.
//  2. Exit code 2 of a hook that may block here is a block.
//  3. Exit code 0 with nothing but blanks on stdout is observe.
//  4. Exit code 0 with exactly one strictly valid object is that reply. Text on
//     other lines is a warning.
//  5. All else is a failure.
//
// stdout and stderr are what was kept of the outputs; eventID is the event's id.
// Nothing is ever read as a verdict that the hook did not write as one.
func Read(spec *protocol.Spec, v protocol.HookInfo, stdout, stderr []byte, end ProcessEnd, eventID string, lim Limits) protocol.ReadResult {
	lim = lim.orDefault()
	r := reader{spec: spec, hook: v, stderr: stderr, eventID: eventID, lim: lim, output: search(stdout), called: cmp.Or(end.Output, "stdout")}
	if end.Failure != nil && end.Failure.Kind == protocol.FailAborted {
		return protocol.ReadResult{Failure: end.Failure}
	}
	if end.Answered {
		r.keepAnswers()
		if len(r.output.documents) == 0 {
			return r.failed(protocol.FailReply, "no reply that repeats the event's id", "")
		}
	}
	if reading, ok := r.refusal(); ok {
		return reading
	}
	if reading, ok := r.ended(end); ok {
		return reading
	}
	if r.output.blank() {
		return protocol.ReadResult{Reply: &protocol.Reply{Action: protocol.Observe}}
	}
	if int64(len(stdout)) > lim.Size {
		return r.failed(protocol.FailOutput, fmt.Sprintf("%d bytes %s, the limit is %d", len(stdout), r.in(), lim.Size), "write less, or raise hooks.limits.reply")
	}
	reply, warnings, err := r.reply()
	if err != nil {
		remedy := replyRemedy
		if other, is := errors.AsType[*foreignError](err); is {
			remedy = other.remedy()
		}
		if end.Output != "" { // it is no program that has a stdout and a header
			remedy = otherRemedy
		}
		reading := r.failed(protocol.FailReply, err.Error(), remedy)
		if len(r.output.documents) == 0 {
			reading.Warnings = nil // the failure says how the text begins
		}
		return reading
	}
	return protocol.ReadResult{Reply: &reply, Warnings: append(r.warnings(), warnings...)}
}

// replyRemedy says what stdout is for.
const replyRemedy = `stdout is for one JSON object, such as {"action":"block","reason":"..."}, or nothing; print all else to stderr`

// otherRemedy is replyRemedy for what is no stdout.
const otherRemedy = `it is to be one JSON object, such as {"action":"block","reason":"..."} or {}`

// Answers reports whether output holds the whole answer of a standby or resident
// hook: an object that begins a line and repeats the event's id. It reads all of
// output, so ask once per finished line rather than per chunk.
func Answers(output []byte, eventID string) bool {
	if eventID == "" || !bytes.Contains(output, []byte{'}'}) {
		return false
	}
	out := search(output)
	for _, d := range out.documents {
		if repeats(out.text[d.start:d.end], eventID) {
			return true
		}
	}
	return false
}

// repeats reports whether an object has the event's id. One that names a second
// id besides is an answer, too, and a faulty one: as a note it would have the
// event wait for another.
func repeats(object protocol.RawMessage, eventID string) bool {
	return slices.ContainsFunc(jsonspan.Members(object), func(m jsonspan.Member) bool {
		return m.Name == "id" && jsonspan.LenientText(m.Value) == eventID
	})
}

// reader reads one hook's output.
type reader struct {
	spec    *protocol.Spec
	hook    protocol.HookInfo
	stderr  []byte
	eventID string
	lim     Limits
	output  output
	called  string // what messages call the output
}

// in says where something is: on stdout, in another output.
func (r *reader) in() string {
	if r.called == "stdout" {
		return "on stdout"
	}
	return "in " + r.called
}

func (r *reader) object(d document) protocol.RawMessage { return r.output.text[d.start:d.end] }

// keepAnswers makes notes of all objects that do not repeat the event's id.
func (r *reader) keepAnswers() {
	kept := r.output.documents[:0]
	for _, d := range r.output.documents {
		if repeats(r.object(d), r.eventID) {
			kept = append(kept, d)
		} else {
			r.output.note(r.object(d))
		}
	}
	r.output.documents, r.output.broken, r.output.values = kept, -1, 0
}

// reply reads the one object on stdout strictly.
func (r *reader) reply() (protocol.Reply, []string, error) {
	out := r.output
	switch {
	case out.utf16:
		return protocol.Reply{}, nil, errors.New(r.called + " is UTF-16; a reply is UTF-8")
	case out.broken >= 0:
		_, err := protocol.StrictJSON(out.text[out.broken:], protocol.DecodeLimits{Size: 1 << 62, Depth: r.lim.Depth})
		return protocol.Reply{}, nil, r.at(out.broken, err)
	case len(out.documents) == 0 && out.values > 0:
		return protocol.Reply{}, nil, errors.New(r.called + " is a list, not a JSON object")
	case len(out.documents) == 0:
		return protocol.Reply{}, nil, fmt.Errorf("no JSON object begins a line of %s; it begins %q", r.called, text.Shorten(out.notes[0], 60))
	case len(out.documents) > 1:
		a, b := out.documents[0], out.documents[1]
		return protocol.Reply{}, nil, fmt.Errorf("%d JSON objects %s, in line %d and line %d; a reply is one", len(out.documents), r.in(), a.line, b.line)
	}
	d := out.documents[0]
	object, err := protocol.StrictJSON(r.object(d), protocol.DecodeLimits{Size: 1 << 62, Depth: r.lim.Depth})
	if err != nil {
		return protocol.Reply{}, nil, r.at(d.start, err)
	}
	if d.trailing >= 0 {
		return protocol.Reply{}, nil, r.at(d.trailing, errors.New("text after the JSON object on its line"))
	}
	reply, warnings, err := decodeReply(object)
	if err != nil {
		return protocol.Reply{}, nil, r.at(d.start, err)
	}
	if reply.ID != "" && reply.ID != r.eventID {
		return protocol.Reply{}, nil, fmt.Errorf("the reply repeats the id %q, this event is %q", text.Shorten(reply.ID, 60), r.eventID)
	}
	if reply.Action == "" && reply.Reason != "" {
		warnings = append(warnings, "a reason without an action has no effect")
	}
	reply, more, err := protocol.CheckReply(r.spec, r.hook, reply)
	if err != nil {
		return protocol.Reply{}, nil, err
	}
	warnings = append(warnings, more...)
	warnings = append(warnings, r.bound(&reply)...)
	return reply, warnings, nil
}

// at adds to an error the line and byte of stdout at which it lies. offset is
// that of the object the error's own offset counts from.
func (r *reader) at(offset int, err error) error {
	if err == nil {
		err = errors.New("not a JSON object")
	}
	path := ""
	var e *protocol.DecodeError
	if errors.As(err, &e) {
		offset += max(int(e.Offset), 0)
		err = e.Err
		if e.Path != "" {
			path = "at " + text.Shorten(e.Path, 200) + ", "
		}
	}
	offset = min(offset, len(r.output.text))
	line := 1 + bytes.Count(r.output.text[:offset], []byte{'\n'})
	return fmt.Errorf("%sline %d, byte %d of %s: %w", path, line, offset, r.called, err)
}

// bound drops state and metadata that are over their limit.
func (r *reader) bound(reply *protocol.Reply) []string {
	var warnings []string
	if n := int64(len(reply.State)); n > max(0, r.lim.State) {
		warnings = append(warnings, fmt.Sprintf("state of %d bytes is not kept, the limit is %d", n, max(0, r.lim.State)))
		reply.State = nil
	}
	if n := int64(len(reply.Metadata)); n > max(0, r.lim.Metadata) {
		warnings = append(warnings, fmt.Sprintf("metadata of %d bytes is not kept, the limit is %d", n, max(0, r.lim.Metadata)))
		reply.Metadata = nil
	}
	return warnings
}

// warnings are the notes on stdout, the first few in full.
func (r *reader) warnings() []string {
	var list []string
	for _, text := range r.output.notes {
		list = append(list, protocol.BesidesReply+text)
	}
	if r.output.more > 0 {
		list = append(list, fmt.Sprintf("%d more lines of text %s", r.output.more, r.in()))
	}
	return list
}
