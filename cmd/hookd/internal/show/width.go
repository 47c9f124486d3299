package show

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// Width returns how many columns a text takes on a terminal: of its widest line, and
// without what paints it.
func Width(text string) int {
	widest := 0
	for line := range strings.SplitSeq(text, "\n") {
		widest = max(widest, displaywidth.Options{ControlSequences: true}.String(line))
	}
	return widest
}
