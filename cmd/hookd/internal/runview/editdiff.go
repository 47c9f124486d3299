package runview

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
)

// shownDiff is how many lines of an edit are shown without being asked for.
const shownDiff = 12

// editDiff returns what a call to edit_file has changed, cut to a few lines; "" for any other
// call. The whole of it is under the call's number.
func editDiff(p *show.Printer, indent string, c *protocol.Call, number int) string {
	var args struct {
		OldText string `json:"oldText"`
		NewText string `json:"newText"`
	}
	if c.Name != "edit_file" || json.Unmarshal(c.Args, &args) != nil || args.OldText == args.NewText {
		return ""
	}
	var whole bytes.Buffer
	painter := &show.Printer{W: &whole, Color: p.Color, Width: p.Width}
	painter.CodeDiff(indent, args.OldText, args.NewText)
	lines := strings.SplitAfter(strings.TrimSuffix(whole.String(), "\n"), "\n")
	if len(lines) <= shownDiff+1 { // the line that says so would take as much room
		return whole.String()
	}
	left := len(lines) - shownDiff
	return strings.Join(lines[:shownDiff], "") + indent + p.In(show.Quiet, fmt.Sprintf("… %s more: /show %d", text.Count(left, "line"), number)) + "\n"
}
