package toolset

import (
	"context"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/protocol"
)

// aTool is a tool of a server, "" for none. words are its description.
func aTool(name, server, words string) tool.Tool {
	return tool.New(tool.Description{Name: name, Description: words, Kind: protocol.KindOther, Server: server},
		func(context.Context, struct {
			Text string `json:"text"`
		}) (protocol.Result, error) {
			return protocol.Result{}, nil
		})
}

// source is a source whose tools a test changes.
type source struct{ list []tool.Tool }

func (s *source) Tools() []tool.Tool { return s.list }

func newSet(t *testing.T, sources []tool.Source, names ...string) *Set {
	t.Helper()
	var tools []tool.Tool
	for _, name := range names {
		tools = append(tools, aTool(name, "", "own"))
	}
	s, err := New(tools, sources)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *Set) offers(t *testing.T, want string) {
	t.Helper()
	if got := strings.Join(s.Names(), " "); got != want {
		t.Errorf("offered: %q, want %q", got, want)
	}
}

// without returns a list of tools but one.
func without(list []protocol.Tool, name string) (rest []protocol.Tool) {
	for _, t := range list {
		if t.Name != name {
			rest = append(rest, t)
		}
	}
	return rest
}

func TestNew(t *testing.T) {
	newSet(t, nil, "a", "b").offers(t, "a b")
	if _, err := New([]tool.Tool{aTool("a", "", ""), aTool("a", "", "")}, nil); err == nil {
		t.Error("two tools of one name: no error")
	}
}

func TestToolsComeAndGo(t *testing.T) {
	server := &source{}
	s := newSet(t, []tool.Source{server}, "a")
	if problems := s.Refresh(true); len(problems) > 0 {
		t.Error(problems)
	}
	s.offers(t, "a")
	if s.Gone("x") || s.Gone("a") {
		t.Error("a tool is gone that never came, or never goes")
	}

	server.list = []tool.Tool{aTool("x", "s", "first"), aTool("y", "s", "")}
	s.Refresh(false)
	s.offers(t, "a x y")
	if _, d, known := s.Lookup("x"); !known || d.Server != "s" {
		t.Errorf("x: %v, known is %v", d, known)
	}
	if s.Check("x", protocol.RawMessage(`{"text":7}`)) == nil {
		t.Error("args that do not fit the schema pass")
	}

	server.list = []tool.Tool{aTool("y", "s", "")}
	s.Refresh(false)
	s.offers(t, "a y")
	if !s.Gone("x") || s.Gone("y") {
		t.Error("x has left and y has not")
	}

	server.list = []tool.Tool{aTool("y", "s", ""), aTool("x", "s", "second")}
	s.Refresh(false)
	s.offers(t, "a x y") // x keeps its place
	if got := s.Offered()[1].Description; got != "second" {
		t.Errorf("x is described as %q, its server says second by now", got)
	}
	if s.Gone("x") {
		t.Error("x is back")
	}
}

func TestToolsThatShareAName(t *testing.T) {
	first, second := &source{list: []tool.Tool{aTool("x", "one", "of one")}}, &source{list: []tool.Tool{aTool("x", "two", ""), aTool("a", "two", "")}}
	s := newSet(t, []tool.Source{first, second}, "a")
	problems := strings.Join(s.Refresh(true), "\n")
	want := "there is a tool named x already; the one of the server two is not offered\n" +
		"there is a tool named a already; the one of the server two is not offered"
	if problems != want {
		t.Errorf("problems:\n%s\nwant:\n%s", problems, want)
	}
	s.offers(t, "a x")
	if _, d, _ := s.Lookup("x"); d.Description != "of one" {
		t.Errorf("x is %q, the first source has it", d.Description)
	}
	if again := s.Refresh(true); len(again) > 0 {
		t.Errorf("said twice: %v", again)
	}
	if _, d, _ := s.Lookup("a"); d.Server != "" {
		t.Error("a server's tool took the place of the agent's own")
	}

	first.list = []tool.Tool{aTool("z", "one", ""), aTool("z", "one", "")}
	if problems := s.Refresh(true); len(problems) != 1 || !strings.Contains(problems[0], "named z already; the one of the server one") {
		t.Errorf("one source with two tools z: %v", problems)
	}
	broken := tool.Description{Name: "broken", Schema: protocol.RawMessage(`{"type":7}`)}
	first.list = []tool.Tool{tool.New(broken, func(context.Context, protocol.RawMessage) (protocol.Result, error) { return protocol.Result{}, nil })}
	if problems := s.Refresh(true); len(problems) != 1 || !strings.HasPrefix(problems[0], "a tool of a source of tools is not offered: ") {
		t.Errorf("a broken schema: %v", problems)
	}
}

// TestHooksChangeTheList: after a hook changed the list, a new tool joins at the next
// agent-start, where hooks see it first, and what they left out stays out.
func TestHooksChangeTheList(t *testing.T) {
	server := &source{list: []tool.Tool{aTool("x", "s", "old")}}
	s := newSet(t, []tool.Source{server}, "a", "b")
	s.Refresh(true)
	shown := s.Offered()
	list := without(shown, "b")
	list[1].Description = "a hook's words"
	s.Change(shown, list)
	s.offers(t, "a x")

	server.list = []tool.Tool{aTool("x", "s", "new"), aTool("y", "s", "")}
	s.Refresh(false)
	s.offers(t, "a x")
	if got := s.Offered()[1].Description; got != "a hook's words" {
		t.Errorf("the hook's description became %q", got)
	}
	s.Refresh(true)
	s.offers(t, "a x y")

	shown = s.Offered()
	s.Change(shown, without(shown, "y"))
	s.Refresh(true)
	s.offers(t, "a x") // y was shown and left out
}

func TestRestore(t *testing.T) {
	before := newSet(t, nil, "a", "b", "c")
	server := &source{list: []tool.Tool{aTool("x", "s", "")}}
	s := newSet(t, []tool.Source{server}, "a", "b", "c")
	s.Restore(without(before.Offered(), "b"))
	s.offers(t, "a c")
	s.Refresh(false)
	s.offers(t, "a c")
	s.Refresh(true) // x is new, b was left out in the session before
	s.offers(t, "a c x")
	if !s.Allows("b") {
		t.Error("b is left out of the list, not forbidden")
	}
}

func TestDeny(t *testing.T) {
	s := newSet(t, nil, "a", "b")
	if s.Denied("") || s.Denied("b") {
		t.Error("something is denied before Deny")
	}
	s.Deny("b")
	s.offers(t, "a")
	if !s.Denied("b") || s.Denied("a") || s.Allows("b") || !s.Allows("a") {
		t.Error("b, and no other, is denied")
	}
	if r := s.Restricted([]string{"a", "b"}); r.Allows("b") {
		t.Error("a restriction gives a denied tool back")
	}
	if s.Snapshot().Allows("b") {
		t.Error("a snapshot gives a denied tool back")
	}
}

func TestRestricted(t *testing.T) {
	server := &source{list: []tool.Tool{aTool("x", "s", "")}}
	s := newSet(t, []tool.Source{server}, "a", "b")
	s.Refresh(true)
	r := s.Restricted([]string{"b", "x", "unknown"})
	r.offers(t, "b x")
	s.offers(t, "a b x")
	if !r.IsRestricted() || s.IsRestricted() || r.Allows("a") || !s.Allows("a") {
		t.Error("the restriction is the new set's alone")
	}
	r.Restricted([]string{"a", "x"}).offers(t, "x") // never more than before

	server.list = nil
	r.Refresh(true)
	r.offers(t, "b")
	if !r.Gone("x") || s.Gone("x") {
		t.Error("what a restricted set sees go is its own")
	}
	server.list = []tool.Tool{aTool("x", "s", ""), aTool("y", "s", "")}
	r.Refresh(true)
	r.offers(t, "b x")
}

func TestSnapshot(t *testing.T) {
	server := &source{list: []tool.Tool{aTool("x", "s", "")}}
	s := newSet(t, []tool.Source{server}, "a")
	s.Refresh(true)
	n := s.Snapshot()
	server.list = []tool.Tool{aTool("y", "s", "")}
	s.Refresh(true)
	n.Refresh(true)
	s.offers(t, "a y")
	n.offers(t, "a x")
	if n := s.Restricted([]string{"a"}).Snapshot(); n.Allows("y") || !n.IsRestricted() {
		t.Error("a snapshot of a restricted set is restricted")
	}
}

// TestSetsDoNotShare: two sets of one list may see different tools come.
func TestSetsDoNotShare(t *testing.T) {
	server := &source{}
	s := newSet(t, []tool.Source{server}, "a")
	s.Restore(append(make([]protocol.Tool, 0, 10), s.Offered()...))
	r := s.Restricted([]string{"a", "x", "y"})
	server.list = []tool.Tool{aTool("x", "s", "")}
	s.Refresh(true)
	server.list = []tool.Tool{aTool("y", "s", "")}
	r.Refresh(true)
	r.offers(t, "a y")
	s.offers(t, "a x")
}
