//go:build !concurrent

// These tests only compute: test/progress/goroutines.go says who runs them.

package conversation

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/protocol"
)

// short is a conversation in letters: u user, a assistant, c assistant with a
// call, r its result, C and R with two calls, o a call that stays open.
func short(letters string) []protocol.Message {
	var m []protocol.Message
	open := 0
	for i, letter := range letters {
		text := Text(protocol.RoleUser, fmt.Sprintf("%c%d", letter, i))
		call := func(n int) protocol.Part {
			return protocol.Part{Type: protocol.PartToolCall, ToolCallID: fmt.Sprintf("%d-%d", open, n), Name: "echo", Args: protocol.RawMessage("{}")}
		}
		result := func(n int) protocol.Part {
			return ResultPart(fmt.Sprintf("%d-%d", open, n), ErrorResult("x"), nil)
		}
		switch letter {
		case 'a':
			text.Role = protocol.RoleAssistant
		case 'c', 'o', 'C':
			open = i
			text.Role = protocol.RoleAssistant
			text.Content = append(text.Content, call(1))
			if letter == 'C' {
				text.Content = append(text.Content, call(2))
			}
		case 'r':
			text = protocol.Message{Role: protocol.RoleTool, Content: protocol.Content{result(1)}}
		case 'R':
			text = protocol.Message{Role: protocol.RoleTool, Content: protocol.Content{result(1), result(2)}}
		}
		text.ID = fmt.Sprint(i)
		m = append(m, text)
	}
	return m
}

func TestSplit(t *testing.T) {
	for name, c := range map[string]struct {
		conversation string
		first, last  int
		want         string // lengths of head, summed, tail
	}{
		"all but the first prompt":        {"ucrcra", 1, 0, "1 5 0"},
		"none to be kept":                 {"ucrcra", 0, 0, "1 5 0"},
		"first prompt comes late":         {"aaua", 0, 0, "3 1 0"},
		"no prompt at all":                {"aaaa", 0, 0, "0 4 0"},
		"keepFirst would tear a call off": {"ucrcra", 2, 0, "3 3 0"},
		"keepLast would tear a call off":  {"ucrcr", 1, 1, "1 2 2"},
		"two calls":                       {"uCRCR", 2, 1, "3 0 2"},
		"one of two calls is open":        {"uaCrcra", 1, 0, "1 1 5"},
		"ends meet":                       {"ucrcra", 3, 3, "3 0 3"},
		"more than there is":              {"ucra", 9, 9, "4 0 0"},
		"a prompt nobody has answered":    {"uaauu", 1, 0, "1 2 2"},
		"an open call":                    {"ucrao", 1, 0, "1 3 1"},
		"an open call before the end":     {"uaoua", 1, 0, "1 1 3"},
		"one message":                     {"u", 1, 0, "1 0 0"},
		"empty":                           {"", 1, 0, "0 0 0"},
	} {
		t.Run(name, func(t *testing.T) {
			s := SplitForCompaction(short(c.conversation), c.first, c.last, protocol.Builtin)
			if got := fmt.Sprint(len(s.head), len(s.Summed), len(s.tail)); got != c.want {
				t.Errorf("split %s, want %s", got, c.want)
			}
		})
	}
}

// TestSplitOfRandomConversations asserts of random conversations that nothing is lost or
// torn, and that both ends stay as they are.
func TestSplitOfRandomConversations(t *testing.T) {
	steps := []string{"u", "a", "cr", "CR", "uu", "acr"}
	for seed := range uint64(5000) {
		random := rand.New(rand.NewPCG(seed, 1))
		letters := "u"
		for range random.IntN(12) {
			letters += steps[random.IntN(len(steps))]
		}
		if random.IntN(4) == 0 {
			letters += "o"
		}
		messages, first, last := short(letters), random.IntN(6), random.IntN(6)
		s := SplitForCompaction(messages, first, last, protocol.Builtin)
		if got := len(s.head) + len(s.Summed) + len(s.tail); got != len(messages) {
			t.Fatalf("%s: %d messages of %d", letters, got, len(messages))
		}
		joined := s.Join("SUM", nil)
		if err := Check(joined); err != nil {
			t.Fatalf("%s kept %d and %d: %v", letters, first, last, err)
		}
		if diff := cmp.Diff(messages[:len(s.head)], joined[:len(s.head)]); diff != "" {
			t.Fatal(diff)
		}
		if len(s.head) < 1 || len(s.head) < min(first, len(messages)) || len(s.tail) < min(last, len(messages)-len(s.head)) {
			t.Fatalf("%s: kept %d and %d, want %d and %d", letters, len(s.head), len(s.tail), first, last)
		}
		if open := openCalls(messages); len(openCalls(joined)) != len(open) {
			t.Fatalf("%s: of %d open calls %d are left", letters, len(open), len(openCalls(joined)))
		}
	}
}

func TestHigherParts(t *testing.T) {
	part := func(hook string, layer protocol.Layer) protocol.Part {
		return protocol.Part{Type: protocol.PartText, Text: hook + "'s words", Hook: hook, Layer: layer}
	}
	m := []protocol.Message{
		{Role: protocol.RoleUser, Content: protocol.Content{{Type: protocol.PartText, Text: "hi"}, part("p", protocol.Project), part("u", protocol.User)}},
		{Role: protocol.RoleTool, Content: protocol.Content{ResultPart("c", ErrorResult("x"), protocol.Content{part("m", protocol.Managed)})}},
		{Role: protocol.RoleUser, Content: protocol.Content{part("m", protocol.Managed), part("b", protocol.Builtin)}},
	}
	for layer, want := range map[protocol.Layer]string{
		protocol.Builtin: "m's words", protocol.Project: "u's wordsm's words", protocol.User: "m's words", protocol.Managed: "",
	} {
		got := ""
		for _, p := range higherParts(m, layer) {
			got += p.Text
		}
		if got != want {
			t.Errorf("asked by a hook of layer %s: kept %q, want %q", layer, got, want)
		}
	}
}
