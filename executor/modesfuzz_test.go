//go:build unix

package executor

import (
	"bytes"
	"context"
	"io"
	"testing"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// said is a process that has written all it ever writes.
type said struct{ rest []byte }

func (s *said) Read(buffer []byte) (int, error) {
	if len(s.rest) == 0 {
		return 0, io.EOF
	}
	return len(s.ReadBuffered(buffer)), nil
}

func (s *said) ReadBuffered(buffer []byte) []byte {
	n := copy(buffer, s.rest)
	s.rest = s.rest[n:]
	return buffer[:n]
}

func (*said) Interrupt() {}

// FuzzResidentLines: whatever a resident process writes, before and behind the
// question, only a line that repeats the event's id becomes a verdict, and nothing
// is read without end.
func FuzzResidentLines(f *testing.F) {
	for _, seed := range [][2]string{
		{"", `{"id":"E1","action":"block"}` + "\n"},
		{`{"id":"E1","action":"block"}` + "\n", `{"id":"E1"}` + "\n"},
		{"text", `{"id":"E0","action":"block"}` + "\n{\"id\":\"E1\"}\n"},
		{"", `{"action":"block"}` + "\n"}, {"", `{"id":"E1","id":"E2","action":"block"}` + "\n"},
		{"", "\xef\xbb\xbf{\"id\":\"E1\"}\n"}, {"", `{"a":{"id":"E1"},"action":"block"}` + "\n"}, {"", `{"id":"E1"} {"action":"block"}` + "\n"},
		{"", "[{\"id\":\"E1\",\"action\":\"block\"}]\n"}, {"", `{"id":"E1","action":"block"`}, {"", "{\"id\":\"E1\",\n\"action\":\"block\"}\n"},
		{"", string(bytes.Repeat([]byte("n\n"), 200)) + `{"id":"E1","action":"block"}` + "\n"}, {"", "\x00\xff\n"},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	spec := protocol.Lookup(protocol.ToolCallStart)
	voter := protocol.Voter{Name: "h", Layer: protocol.User, Class: protocol.CanBlock, Rule: protocol.RuleBlock}
	f.Fuzz(func(t *testing.T, before, behind []byte) {
		if len(before) > 32<<10 || len(behind) > 32<<10 { // what a pipe holds
			return
		}
		child := &said{before}
		q := &Question{Event: &protocol.Event{Event: protocol.ToolCallStart, ID: "E1"}, Spec: spec, Limits: schema.Limits{Reply: 4096, Depth: 64}}
		if dropEarlier(child, replyLimit(q)) >= replyLimit(q) {
			return // a flood
		}
		child.rest = bytes.Clone(behind)
		h := hearLines(context.Background(), child, q)
		if len(h.out) > 4096+1 || h.notes > notesMost+1 {
			t.Errorf("%d bytes and %d notes", len(h.out), h.notes)
		}
		if !h.answered(q) {
			return
		}
		reading := protocol.ReadReply(spec, voter, h.out, nil, protocol.Ending{Answered: true}, "E1", replyLimits(q))
		if reading.Reply == nil {
			return
		}
		for line := range bytes.Lines(behind) {
			if protocol.Answers(line, "E1") {
				return
			}
		}
		t.Errorf("verdict %s without a line that repeats the id: before %q, behind %q", reading.Reply.Action, before, behind)
	})
}
