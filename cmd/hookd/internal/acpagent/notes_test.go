package acpagent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/acpview"
)

// What waits for a client's next turn is bounded in number and bytes, and says how much it is not.
func TestNotesThatWaitAreBounded(t *testing.T) {
	for name, test := range map[string]struct{ text, kept, leftOut int }{
		"few":       {10, 3, 0},
		"many":      {10, mostNotes, 1000},
		"long ones": {mostNoteBytes / 20, 20, 5},
		"huge ones": {1 << 20, 16, 2},
	} {
		var n notes
		for i := range test.kept + test.leftOut {
			n.add(note{acpview.Info, fmt.Sprintf("%d ", i) + strings.Repeat("x", test.text-2-len(fmt.Sprint(i))+1)})
		}
		bytes, got := 0, n.take()
		want := test.kept
		if test.leftOut > 0 {
			want++
			if last := got[len(got)-1].text; !strings.HasPrefix(last, fmt.Sprintf("%d more notes", test.leftOut)) {
				t.Errorf("%s: %s", name, last)
			}
		}
		for i, one := range got[:min(test.kept, len(got))] {
			if bytes += len(one.text); !strings.HasPrefix(one.text, fmt.Sprintf("%d ", i)) {
				t.Errorf("%s: %.20s is note %d", name, one.text, i)
			}
		}
		if len(got) != want || bytes > mostNoteBytes || len(n.take()) != 0 {
			t.Errorf("%s: %d notes of %d bytes, want %d", name, len(got), bytes, want)
		}
	}
}
