package acpview

import (
	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/acp"
)

// compaction is a compaction of the session's own conversation that goes on, for a client that
// takes such updates. The recipe that writes the summary runs below the session's agent.
type compaction struct {
	id      string // "": none goes on
	trouble string // what the loop said last of something that came to nothing
}

func (c *compaction) update(status acp.CompactionStatus) *acp.Compaction {
	return &acp.Compaction{Kind: acp.CompactionChanged, CompactionID: c.id, Status: status}
}

func (c *compaction) begin() []any {
	*c = compaction{id: protocol.NewID()}
	return []any{c.update(acp.CompactionRuns)}
}

// chunk is a piece of the summary as it is written.
func (c *compaction) chunk(text string) []any {
	return []any{&acp.CompactionText{Kind: acp.CompactionChunk, CompactionID: c.id, Content: acp.Text(show.Visible(text))}}
}

// anew takes back what was sent of the summary: it is written once more.
func (c *compaction) anew() []any {
	if c.id == "" {
		return nil
	}
	u := c.update(acp.CompactionRuns)
	u.Summary = &[]acp.ContentBlock{}
	return []any{u}
}

// completed is a compaction with its whole summary, which hooks may have changed since it was
// written.
func (c *compaction) completed(summary string) []any {
	u := c.update(acp.CompactionCompleted)
	u.Summary = &[]acp.ContentBlock{acp.Text(show.Visible(summary))}
	c.id = ""
	return []any{u}
}

// over is the end of a compaction that came to nothing, nothing if none goes on.
func (c *compaction) over(status acp.CompactionStatus) []any {
	if c.id == "" {
		return nil
	}
	u := c.update(status)
	if status == acp.CompactionFailed {
		u.Error = c.trouble
	}
	c.id = ""
	return []any{u}
}

// compacting returns the updates of the session's own compaction for an event, before those that
// every client gets. A compaction whose agent goes on without its end has come to nothing.
func (v *View) compacting(y *agentloop.Update) []any {
	c := &v.compaction
	if !v.options.Compactions || !v.isOwn(y) {
		return nil
	}
	switch y.Event.Event {
	case protocol.CompactStart:
		if !y.Outcome.Refused() {
			return c.begin()
		}
	case protocol.CompactEnd:
		if d, read := data[protocol.CompactEndData](y); read && c.id != "" {
			return c.completed(d.Summary)
		}
	case protocol.Notification:
		if d, read := data[protocol.NotificationData](y); read && c.id != "" && d.Kind == "hook" {
			c.trouble = show.Line(d.Text)
		}
		return nil
	}
	return c.over(acp.CompactionFailed)
}
