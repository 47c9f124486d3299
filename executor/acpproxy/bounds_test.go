package acpproxy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/test/dialogue"
)

// A turn that hooks have go on while the agent does not read keeps nothing else of the session
// from passing, and a cancel comes after the prompt that it goes on with.
func TestTurnGoesOnWhileTheAgentDoesNotRead(t *testing.T) {
	more, err := protocol.ContinueReply(protocol.Message{Role: protocol.RoleUser, Content: protocol.TextContent("go on")})
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(t, "", says(protocol.AgentStop, more))
	s.opens()
	s.passes(s.Client, s.ToServer, promptLine("1", "go"))
	full := `{"jsonrpc":"2.0","method":"x/y","params":{"text":"` + strings.Repeat("y", 1<<20-100) + `"}}`
	for range 2 { // one is being written, one waits and leaves no room for more
		s.Say(s.Client, full)
	}
	s.Say(s.Client, `{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{}}`)
	s.Has(s.ToClient, `"id":2,"error"`)
	s.Say(s.Server, endLine("1", "end_turn"))
	s.Has(s.ToClient, "has the agent go on")
	said := updateLine(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"still here"}}`)
	other := `{"jsonrpc":"2.0","method":"x/z"}`
	s.Say(s.Server, said) // comes after the end of the turn, or what becomes of it
	s.passes(s.Server, s.ToClient, other)
	s.Say(s.Client, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`)
	s.passes(s.Server, s.ToClient, other)
	for range 2 {
		s.Has(s.ToServer, "yyy")
	}
	s.Read(s.ToClient, said)
	s.Has(s.ToServer, `"method":"session/prompt"`, "go on")
	s.Has(s.ToServer, `"method":"session/cancel"`)
	s.Say(s.Server, strings.Replace(endLine("1", "cancelled"), `"id":1`, `"id":"hookd-1"`, 1))
	s.Read(s.ToClient, endLine("1", "cancelled"))
}

// An agent that leaves its mode again and again is set back a few times. Then its turn ends, the
// session takes no more prompts, and the person is told once.
func TestModeThatIsLeftAgainAndAgain(t *testing.T) {
	s := newStage(t, "ask")
	changed := updateLine(`{"sessionUpdate":"current_mode_update","currentModeId":"auto"}`)
	s.passes(s.Client, s.ToServer, newLine(""))
	s.passes(s.Server, s.ToClient, `{"jsonrpc":"2.0","id":0,"result":{"sessionId":"s1","modes":{"currentModeId":"ask","availableModes":[{"id":"auto"},{"id":"ask"}]}}}`)
	last := 0
	leaves := func(times int) {
		t.Helper()
		for range times {
			last++
			s.passes(s.Server, s.ToClient, changed)
			s.Has(s.ToServer, fmt.Sprintf(`"id":"hookd-%d","method":"session/set_mode"`, last))
			s.Say(s.Server, fmt.Sprintf(`{"jsonrpc":"2.0","id":"hookd-%d","result":{}}`, last))
			s.passes(s.Server, s.ToClient, fmt.Sprintf(`{"jsonrpc":"2.0","method":"x/y","params":{"n":%d}}`, last))
		}
	}
	for id := range 2 { // a prompt begins anew
		s.passes(s.Client, s.ToServer, promptLine(fmt.Sprint(id+1), "go"))
		leaves(3)
		s.passes(s.Server, s.ToClient, endLine(fmt.Sprint(id+1), "end_turn"))
	}
	s.passes(s.Client, s.ToServer, promptLine("8", "go"))
	leaves(mostBacks)
	s.Say(s.Server, changed)
	s.Has(s.ToServer, `"method":"session/cancel"`)
	read := []string{s.Next(s.ToClient), s.Next(s.ToClient)} // hookd's own words have no place among the agent's
	if told := fmt.Sprintf("after hookd had set it back %d times (the turn was cancelled)", mostBacks); !slices.Contains(read, changed) || !strings.Contains(strings.Join(read, ""), told) {
		t.Fatalf("got %q", read)
	}
	s.passes(s.Server, s.ToClient, changed) // and nothing more is said of it
	s.passes(s.Server, s.ToClient, endLine("8", "cancelled"))
	s.Say(s.Client, promptLine("9", "go"))
	s.Has(s.ToClient, "refused this prompt", "begin a new session")
	s.Read(s.ToClient, endLine("9", "refusal"))
	s.noted("after hookd had set it back")
	if all := strings.Join(s.notes.All(), "\n"); strings.Count(all, "after hookd had set it back") != 1 {
		t.Error(all)
	}
}

// A session that is answered with the id of one that is open is refused, and that one ends once.
func TestIDOfASessionThatIsOpen(t *testing.T) {
	s := newStage(t, "")
	s.opens()
	for i, method := range []string{"session/new", "session/fork", "session/load"} {
		line := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"sessionId":"other","cwd":"/","mcpServers":[]}}`, i+1, method)
		s.passes(s.Client, s.ToServer, line)
		s.Say(s.Server, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"sessionId":"s1"}}`, i+1))
		s.Has(s.ToClient, fmt.Sprintf(`"id":%d,"error"`, i+1), "that of a session that is open")
	}
	s.Client.Close()
	s.Done <- <-s.Done
	s.eventually("session-start startup", "session-end exit")
	if all := s.decided(); len(all) != 2 {
		t.Errorf("%q", all)
	}
}

// Sessions that an agent invents are forgotten when there are too many, but none in which the
// client runs something.
func TestSessionsThatAnAgentInvents(t *testing.T) {
	s := sessions{open: map[string]*session{}}
	g := newGuard(t.Context(), &Options{})
	invented := func(i int) *session { return g.newSession(fmt.Sprint(i), folders{{"/", "/"}}, dialogue.Gate{}) }
	for i := range 2 * mostUnseen {
		one := invented(i)
		if i == 0 {
			one.work.terminals["t"] = &terminal{}
		}
		if got, err := s.keep(one); err != nil || got != one {
			t.Fatal(err)
		}
	}
	if len(s.open) != mostUnseen || s.open["0"] == nil {
		t.Errorf("%d are kept", len(s.open))
	}
	for _, one := range s.open {
		one.work.terminals["t"] = &terminal{}
	}
	if _, err := s.keep(invented(-1)); err == nil || len(s.open) != mostUnseen {
		t.Errorf("%v, %d are kept", err, len(s.open))
	}
}

// Of too many calls those that have ended are forgotten first: what was shown of the others is what
// they are judged by.
func TestCallsThatAreForgotten(t *testing.T) {
	w := work{tools: map[string]*tool{}}
	for i := range 4 * mostTools {
		for _, forgotten := range w.keep(&tool{id: fmt.Sprint(i), ended: i%(mostTools/2) != 0}) {
			if !forgotten.ended {
				t.Errorf("the call %s is forgotten, and has not ended", forgotten.id)
			}
		}
	}
	for i := range 2 * mostTools {
		w.keep(&tool{id: fmt.Sprint("running ", i)})
	}
	if len(w.tools) != mostTools {
		t.Errorf("%d calls are kept", len(w.tools))
	}
}
