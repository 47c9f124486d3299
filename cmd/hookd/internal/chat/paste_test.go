package chat

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/hookd-dev/hookd/protocol"
)

// TestALongPasteIsOneBlock asserts that a mark stands for a long paste, that the whole is
// sent once and in its place, and that the prompt is shown with its lines, the rest under a
// number, also after the terminal became smaller.
func TestALongPasteIsOneBlock(t *testing.T) {
	var long strings.Builder
	for i := range 40 {
		fmt.Fprintf(&long, "line %d [pasted 2: 1,000,000 bytes]\x1b[2J\r\n", i)
	}
	body := strings.ReplaceAll(long.String(), "\r\n", "\n")
	for _, width := range []int{80, 120} {
		s := newScene(t, width)
		s.tell(tea.WindowSizeMsg{Width: width, Height: 24})
		s.press("look: ").tell(tea.PasteMsg{Content: long.String()})
		s.press(" and ").tell(tea.PasteMsg{Content: strings.Repeat("x", 1000000)}, tea.WindowSizeMsg{Width: width - 10, Height: 24})
		s.shows("----\n› look: [pasted 1: 40 lines] and [pasted 2: 1,000,000 bytes]")
		s.press("enter")
		sent := "look: " + body + " and " + strings.Repeat("x", 1000000)
		s.wants(promptEffect{sent, "user"})
		s.tell(event(t, protocol.PromptSubmit, protocol.PromptSubmitData{Prompt: body, Source: "user"}, protocol.Outcome{}), endedMsg{})
		up := s.up.String()
		if !strings.HasPrefix(up, `› line 0 [pasted 2: 1,000,000 bytes]\x1b[2J`+"\n"+`  line 1 [`) || !strings.Contains(up, "\n  … 32 lines more  #1\n") || strings.Contains(up, "line 8 ") {
			t.Errorf("the prompt shows as:\n%s", up)
		}
		s.press("/show 1", "enter")
		if got := s.up.String(); !strings.Contains(got, `  line 39 [pasted 2: 1,000,000 bytes]\x1b[2J`) {
			t.Errorf("opened:\n%s", got)
		}
	}
}

// TestAMarkThatWasChangedIsText asserts that nothing is sent which the line does not name.
func TestAMarkThatWasChangedIsText(t *testing.T) {
	s := newScene(t, 80)
	s.tell(tea.PasteMsg{Content: strings.Repeat("a\n", 20)}, tea.KeyPressMsg{Code: tea.KeyBackspace})
	s.press("enter")
	s.wants(promptEffect{"[pasted 1: 20 lines", "user"})
	s.tell(endedMsg{})
	s.press("[pasted 1: 20 lines]", "enter") // of the line before
	s.wants(promptEffect{"[pasted 1: 20 lines]", "user"})
}
