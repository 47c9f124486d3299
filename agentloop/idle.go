package agentloop

import (
	"context"
	"strings"

	"github.com/hookd-dev/hookd/protocol"
)

// Idle tells hooks that the agent is done and waits for a prompt, for a person who went
// away: a notification of kind idle. It is for hosts in which a conversation goes on,
// between two runs. told is false where a run goes on, none ever began, or the context
// ended. The yield is that event.
func (l *Loop) Idle(ctx context.Context, last Result) (yield Yield, told bool) {
	l.mu.Lock()
	if l.running || l.closed || !l.started {
		l.mu.Unlock()
		return Yield{}, false
	}
	l.running = true
	l.mu.Unlock()
	defer l.release()

	text := "the agent is done and waits for a prompt"
	if line, _, _ := strings.Cut(strings.TrimSpace(last.Response), "\n"); line != "" {
		text += ": " + shortened(line, 100)
	}
	v, err := newRun(ctx, l).decide(ctx, protocol.Notification, protocol.NotificationData{Kind: "idle", Text: text})
	if err != nil {
		return Yield{}, false
	}
	return Yield{Kind: YieldEvent, Event: v.Event, Outcome: v.Outcome}, true
}
