package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/protocol"
)

var day = time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)

func said(role protocol.Role, text string) *protocol.Message {
	return &protocol.Message{Role: role, Content: protocol.TextContent(text)}
}

// written makes a session of entries and closes its file.
func written(t *testing.T, folder, id string, entries ...Entry) {
	t.Helper()
	s, err := Create(folder, id, Header{Project: "/p", Model: "m1", Created: day})
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range entries {
		e.Time = day.Add(time.Duration(i+1) * time.Minute)
		if err := s.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestList(t *testing.T) {
	folder := t.TempDir()
	prompt := said(protocol.RoleUser, "do it")
	prompt.Content = append(protocol.Content{{Type: protocol.PartText, Text: "hook's", Hook: "h"}}, prompt.Content...)
	written(t, folder, "01AAAA1", Entry{Kind: Message, Message: prompt, Turn: 1}, Entry{Kind: Closed, Text: "exit", Seq: 7})
	written(t, folder, "01AAAA2", Entry{Kind: Message, Message: prompt, Turn: 1}, Entry{Kind: Message, Message: said(protocol.RoleAssistant, "yes")},
		Entry{Kind: Message, Message: said(protocol.RoleUser, "more"), Turn: 2}, Entry{Kind: Model, Text: "m2"},
		Entry{Kind: Conversation, Messages: []protocol.Message{*prompt, *prompt}})
	written(t, folder, "01AABB0")
	open, err := Open(folder, "01AABB0")
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	for name, text := range map[string]string{
		"bad1.jsonl": "{\"kind\":\"session\",\"v\":1,\"id\":\"bad1\",\"created\":\"2099-01-01T00:00:00Z\"}\n{]\n", "empty.jsonl": "",
		"notes.txt": "x", ".hidden.jsonl": "x", "newer.jsonl": "{\"kind\":\"session\",\"v\":99,\"id\":\"newer\"}\n",
	} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, day, day.Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	list, err := List(folder)
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		ID, First, Model string
		Messages, Turns  int
		Condition        Condition
		Damage           string
	}
	var got []row
	for _, i := range list {
		r := row{i.ID, i.First, i.Model, i.Messages, i.Turns, i.Condition, ""}
		if i.Damage != nil {
			r.Damage, _, _ = strings.Cut(i.Damage.Error(), ":")
		}
		got = append(got, r)
	}
	want := []row{
		{"01AAAA2", "do it", "m2", 2, 2, Interrupted, ""},
		{"01AAAA1", "do it", "m1", 1, 1, Ended, ""},
		{"01AABB0", "", "m1", 0, 0, InUse, ""},
		{"newer", "", "", 0, 0, Damaged, "line 1"},
		{"empty", "", "", 0, 0, Damaged, "line 1"},
		{"bad1", "", "", 0, 0, Damaged, "line 2"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if list, err := List(filepath.Join(folder, "nowhere")); err != nil || len(list) > 0 {
		t.Errorf("a folder that is not there: %v, %v", list, err)
	}
}

func TestFind(t *testing.T) {
	folder := t.TempDir()
	for _, id := range []string{"01AAAA1", "01AAAA12", "01AABB0"} {
		written(t, folder, id)
	}
	for prefix, want := range map[string]string{
		"01AAAA1": "01AAAA1", "01aaaa12": "01AAAA12", "01aab": "01AABB0", "01A": "2+", "": "none", "9": "none", "../x": "none",
	} {
		id, err := Find(folder, prefix)
		var several *AmbiguousError
		switch {
		case errors.As(err, &several):
			id = "2+"
		case errors.Is(err, ErrNotFound):
			id = "none"
		case err != nil:
			t.Error(err)
		}
		if id != want {
			t.Errorf("%q is %s, want %s", prefix, id, want)
		}
	}
	ids, err := IDs(folder)
	if got := ShortLength(ids, 2); err != nil || got != 8 {
		t.Errorf("%d characters tell them apart, %v", got, err)
	}
}

func TestRemove(t *testing.T) {
	folder := t.TempDir()
	written(t, folder, "s1")
	open, err := Open(folder, "s1")
	if err != nil {
		t.Fatal(err)
	}
	if err := Remove(folder, "s1"); !errors.Is(err, ErrInUse) {
		t.Errorf("an open session: %v", err)
	}
	open.Close()
	if err := Remove(folder, "s1"); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(folder); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if _, err := Open(folder, "s1"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("opened after its removal: %v", err)
	}
	if err := Remove(folder, "../s1"); err == nil {
		t.Error("an id led out of the folder")
	}
}

// TestListingDoesNotDisturb asserts that a list taken at the same moment never
// keeps a process from its session.
func TestListingDoesNotDisturb(t *testing.T) {
	folder := t.TempDir()
	written(t, folder, "s1")
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				List(folder)
			}
		}
	}()
	for range 300 {
		s, err := Open(folder, "s1")
		if err != nil {
			t.Error(err)
			break
		}
		s.Close()
	}
	close(stop)
	<-done
}

// TestReadIsWhatOpenHolds asserts that a reader sees what a resumed run would.
func TestReadIsWhatOpenHolds(t *testing.T) {
	folder := t.TempDir()
	written(t, folder, "s1", Entry{Kind: Message, Message: said(protocol.RoleUser, "hi"), Turn: 1},
		Entry{Kind: System, Text: "be good"}, Entry{Kind: Model, Text: "m2"}, Entry{Kind: Reserve, Seq: 1000})
	path := filepath.Join(folder, "s1.jsonl")
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	file.WriteString(`{"kind":"mess`)
	file.Close()
	transcript, err := Read(folder, "s1") // before Open cuts the torn line off
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(folder, "s1")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if diff := cmp.Diff(s.State(), transcript.State()); diff != "" {
		t.Errorf("(-open +read):\n%s", diff)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("{\"kind\":\"session\",\"v\":1,\"id\":\"s\"}\n{\"kind\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"\xff\"},\"turn\":1}\n"))
	f.Add([]byte("{\"kind\":\"session\",\"v\":1,\"id\":\"s\"}\n{\"kind\":\"conversation\",\"messages\":[{},1]}\n{"))
	f.Fuzz(func(t *testing.T, text []byte) {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, "s.jsonl"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		transcript, err := Read(folder, "s")
		list, listErr := List(folder)
		if listErr != nil || len(list) != 1 {
			t.Fatalf("listed %v, %v", list, listErr)
		}
		if err == nil && list[0].Damage != nil {
			t.Errorf("read, but listed as damaged: %v", list[0].Damage)
		}
		if err == nil && list[0].Messages != len(transcript.State().Messages) {
			t.Errorf("listed with %d messages, read with %d", list[0].Messages, len(transcript.State().Messages))
		}
	})
}
