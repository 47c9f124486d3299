package store

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/protocol"
)

// conversation writes a session of about so many bytes: prompts, answers with
// calls, results of 8 KiB.
func conversation(t testing.TB, folder, id string, size int) {
	t.Helper()
	s, err := Create(folder, id, Header{Project: "/p", Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	text := strings.Repeat("a line of a file that was read, \"quoted\" and indented\n\t", 150)
	add := func(m protocol.Message, turn int) {
		m.ID = protocol.NewID()
		if err := s.Append(Entry{Kind: Message, Message: &m, Turn: turn}); err != nil {
			t.Fatal(err)
		}
	}
	for n := 1; ; n++ {
		if info, err := os.Stat(s.Path()); err != nil || info.Size() >= int64(size) {
			break
		}
		if n%20 == 1 {
			add(protocol.Message{Role: protocol.RoleUser, Content: protocol.TextContent(fmt.Sprintf("prompt %d", n))}, n/20+1)
		}
		call := fmt.Sprintf("c%d", n)
		add(protocol.Message{Role: protocol.RoleAssistant, Content: protocol.Content{
			{Type: protocol.PartText, Text: "I look at it."},
			{Type: protocol.PartToolCall, ToolCallID: call, Name: "read_file", Args: protocol.RawMessage(fmt.Sprintf(`{"path":"%s.go"}`, call))},
		}}, 0)
		add(protocol.Message{Role: protocol.RoleTool, Content: protocol.Content{
			{Type: protocol.PartToolResult, ToolCallID: call, Content: protocol.TextContent(text)},
		}}, 0)
	}
	if err := s.Append(Entry{Kind: Closed, Text: "exit", Seq: 9}); err != nil {
		t.Fatal(err)
	}
}

// TestLargeSession: a long conversation is read as it was written, in memory that
// is a small multiple of it; a list needs hardly any.
func TestLargeSession(t *testing.T) {
	const size = 10 << 20
	folder := t.TempDir()
	conversation(t, folder, "large", size)
	allocated := func(do func()) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		do()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	var state State
	opened := allocated(func() {
		s, err := Open(folder, "large")
		if err != nil {
			t.Fatal(err)
		}
		state = s.State()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	})
	if opened > 4*size {
		t.Errorf("opening %d MiB takes %d MiB", size>>20, opened>>20)
	}
	var list []Info
	var err error
	if listed := allocated(func() { list, err = List(folder) }); err != nil || listed > size {
		t.Errorf("listing takes %d MiB: %v", listed>>20, err)
	}
	if len(list) != 1 || list[0].Messages != len(state.Messages) || list[0].First != "prompt 1" || list[0].Turns != state.Turn {
		t.Errorf("listed %d messages of %d, %q, %d turns of %d", list[0].Messages, len(state.Messages), list[0].First, list[0].Turns, state.Turn)
	}
	for i, m := range state.Messages {
		for _, p := range m.Content {
			if p.Type == protocol.PartToolCall && string(p.Args) != fmt.Sprintf(`{"path":"%s.go"}`, p.ToolCallID) {
				t.Fatalf("message %d: %s", i, p.Args)
			}
		}
	}
}

func BenchmarkOpen60MB(b *testing.B) {
	folder := b.TempDir()
	conversation(b, folder, "large", 60<<20)
	b.SetBytes(60 << 20)
	for b.Loop() {
		s, err := Open(folder, "large")
		if err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}

func BenchmarkList60MB(b *testing.B) {
	folder := b.TempDir()
	conversation(b, folder, "large", 60<<20)
	b.SetBytes(60 << 20)
	for b.Loop() {
		if _, err := List(folder); err != nil {
			b.Fatal(err)
		}
	}
}
