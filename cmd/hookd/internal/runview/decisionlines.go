package runview

import (
	"bytes"
	"strings"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/report"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/protocol"
)

// DecisionLines says what hooks did to an event in the words of a conversation on a screen, a
// line each: who changed what, what refused it and why, what could not be asked, and what hooks
// say to the person. It is empty for an event that passed without a word.
func DecisionLines(o *protocol.Outcome) []string {
	var b bytes.Buffer
	p := &show.Printer{W: &b}
	theirs := withoutOurs(o)
	for _, part := range quietParts(theirs) {
		p.Print("· %s\n", part)
	}
	verdict(p, "", o)
	for _, lost := range o.Lost {
		p.Print("! %s\n", show.Line(lost))
	}
	report.Warnings(p, "", o.Runs, false)
	for _, n := range report.Notices(o) {
		if n.Source != protocol.Builtin {
			printNotice(p, "", n, noticeLines)
		}
	}
	if b.Len() == 0 {
		return nil
	}
	return strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
}
