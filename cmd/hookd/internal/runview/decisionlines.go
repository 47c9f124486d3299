package runview

import (
	"bytes"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/report"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/protocol"
)

// isOurs reports whether a hook of this name that was asked is a feature of the loop.
func isOurs(o *protocol.Outcome, hook string) bool {
	return slices.ContainsFunc(o.Runs, func(r protocol.Run) bool { return r.Hook == hook && r.Source == protocol.Builtin })
}

// DecisionLines says what hooks did to an event in the words of a conversation on a screen, a
// line each: who changed what, what refused it and why, what could not be asked, and what hooks
// say to the person. What the loop's own features do is left out. It is empty for an event that
// passed without a word.
func DecisionLines(o *protocol.Outcome) []string {
	var b bytes.Buffer
	p := &show.Printer{W: &b}
	theirs := *withoutOurs(o)
	theirs.Context = slices.DeleteFunc(slices.Clone(o.Context), func(c protocol.HookText) bool { return isOurs(o, c.Hook) })
	for _, part := range quietParts(&theirs) {
		p.Print("· %s\n", part)
	}
	verdict(p, "", o)
	for _, lost := range o.Lost {
		p.Print("! %s\n", show.Line(lost))
	}
	report.Warnings(p, "", o.Runs, true)
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
