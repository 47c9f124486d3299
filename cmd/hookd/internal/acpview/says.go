package acpview

import (
	"fmt"
	"strings"

	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/acp"
)

// Severity is how much a person should care.
type Severity string

const (
	Info    Severity = "info"
	Warning Severity = "warning"
	Failure Severity = "error"
)

// severityOf returns that of a notification.
func severityOf(kind string) Severity {
	switch kind {
	case "error":
		return Failure
	case "hook":
		return Warning
	}
	return Info
}

// Says returns the update that tells the person something which the model does not say: a
// notice, or a message whose lines are quoted. The text must be visible.
func (v *View) Says(severity Severity, text string) []any {
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return nil
	}
	if v.options.Notices {
		title, rest, _ := strings.Cut(text, "\n")
		return []any{&acp.Notice{Kind: acp.NoticeGiven, Severity: string(severity), Title: title, Description: rest}}
	}
	quoted := ""
	if v.open { // a client may append it to the text before
		quoted = "\n\n"
	}
	v.open = false
	quoted += "> " + strings.ReplaceAll(text, "\n", "\n> ") + "\n\n"
	return []any{&acp.Chunk{Kind: acp.AgentMessageChunk, Content: acp.Text(quoted), MessageID: protocol.NewID()}}
}

// compacted says what a compaction made of the conversation.
func compacted(d *protocol.CompactEndData) string {
	return fmt.Sprintf("the conversation was compacted: %s → %s", extent(d.Before), extent(d.After))
}

func extent(m protocol.Measures) string {
	words := text.Count(m.Messages, "message")
	if m.Tokens != nil {
		words += fmt.Sprintf(", %d tokens", *m.Tokens)
	}
	return words
}
