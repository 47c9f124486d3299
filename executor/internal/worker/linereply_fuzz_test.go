//go:build unix

package worker

import (
	"bytes"
	"context"
	"io"
	"testing"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/readreply"
)

// written is a process that has written all it ever writes.
type written struct{ rest []byte }

func (s *written) Read(buffer []byte) (int, error) {
	if len(s.rest) == 0 {
		return 0, io.EOF
	}
	return len(s.ReadBuffered(buffer)), nil
}

func (s *written) ReadBuffered(buffer []byte) []byte {
	n := copy(buffer, s.rest)
	s.rest = s.rest[n:]
	return buffer[:n]
}

func (*written) Interrupt() {}

// FuzzResidentLines: whatever a resident process writes, before and after the
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
	voter := protocol.HookInfo{Name: "h", Layer: protocol.User, Class: protocol.CanBlock, Rule: protocol.RuleBlock}
	f.Fuzz(func(t *testing.T, before, behind []byte) {
		if len(before) > 32<<10 || len(behind) > 32<<10 { // what a pipe holds
			return
		}
		child := &written{before}
		const limit = 4096
		if discardStale(child, limit) >= limit {
			return // a flood
		}
		child.rest = bytes.Clone(behind)
		out := readLine(context.Background(), child, limit, "E1")
		if len(out.text) > limit+1 || out.notes > MaxNotes+1 {
			t.Errorf("%d bytes and %d notes", len(out.text), out.notes)
		}
		if out.end != EndReply && !readreply.Answers(lastLine(out.text), "E1") {
			return
		}
		reading := readreply.Read(spec, voter, out.text, nil, readreply.ProcessEnd{Answered: true}, "E1", readreply.Limits{Size: limit, Depth: 64})
		if reading.Reply == nil {
			return
		}
		for line := range bytes.Lines(behind) {
			if readreply.Answers(line, "E1") {
				return
			}
		}
		t.Errorf("verdict %s without a line that repeats the id: before %q, behind %q", reading.Reply.Action, before, behind)
	})
}
