package executor

import (
	"fmt"

	"github.com/hookd-dev/hookd/executor/state"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// view is what hooks remember, as this event's hooks see it. It is read once, so
// that events side by side see the same old values.
func (t *trip) view() *state.View {
	if t.now == nil {
		view := state.View{}
		if t.first.Session.ID != "" {
			var err error
			view, err = t.executor.states.Read(t.first.Session.ID)
			if err != nil { // only a write shows that the trouble is over
				t.trouble("state", "what hooks remember could not be read", err)
			}
		}
		t.before, t.now = &view, &view
	}
	return t.now
}

// checkKept returns what a reply wants kept. What may not be kept is taken out
// and becomes a warning: the rest of the reply counts all the same.
func (t *trip) checkKept(h *Hook, answer *protocol.Answer) []state.Write {
	if answer.Reply == nil {
		return nil
	}
	limits := &t.set.of(h).Limits
	var writes []state.Write
	for _, value := range []struct {
		what  state.What
		value protocol.RawMessage
		limit int64
	}{
		{state.State, answer.Reply.State, limits.State},
		{state.Metadata, answer.Reply.Metadata, limits.Metadata},
	} {
		if value.value == nil {
			continue
		}
		if why := t.unkept(h, value.what, value.value, value.limit); why != "" {
			answer.Warnings = append(answer.Warnings, fmt.Sprintf("%s is not kept: %s", value.what, why))
			continue
		}
		key := stateKey(h)
		writes = append(writes, state.Write{
			Key: key, What: value.what, Value: value.value,
			Seq: t.first.Seq, Opening: t.first.Opening, Saw: t.revision(key, value.what),
		})
	}
	return writes
}

// revision is what was stored when this event's hooks began to look.
func (t *trip) revision(key state.Key, what state.What) int64 {
	t.view()
	return t.before.Revision(key, what)
}

func (t *trip) unkept(h *Hook, what state.What, value protocol.RawMessage, limit int64) string {
	switch {
	case int64(len(value)) > limit:
		return fmt.Sprintf("it has %d bytes, the limit is %d", len(value), limit)
	case !jsonspan.Valid(value):
		return "it is not JSON"
	case what == state.State && t.first.Session.ID == "":
		return "the event belongs to no session"
	case what == state.Metadata && h.Mode == protocol.Audit:
		// Other hooks decide by it.
		return "the hook runs in audit mode"
	}
	return ""
}

// keep makes values visible to the later hooks of this event. They reach other
// events when this one goes on.
func (t *trip) keep(h *Hook, writes []state.Write) {
	if len(writes) == 0 {
		return
	}
	view, _ := t.view().With(writes)
	t.now = &view
	t.writes = append(t.writes, writes...)
	t.facts = nil // conditions read metadata
}

// commit writes what the hooks want kept before the event goes on.
func (t *trip) commit() []state.Lost {
	if len(t.writes) == 0 || t.first.Session.ID == "" {
		return nil
	}
	lost, err := t.executor.states.Write(t.first.Session.ID, t.writes)
	t.trouble("state", "what hooks remember could not be written; it is gone when this process ends", err)
	return lost
}

// lostTexts says which values of a hook are lost.
func lostTexts(lost []state.Lost, hook string) (texts []string) {
	for _, l := range lost {
		if l.Hook != hook {
			continue
		}
		of := "another event"
		if l.Seq != nil {
			of = fmt.Sprintf("event %d", *l.Seq)
		}
		texts = append(texts, fmt.Sprintf("the %s that it gave at %s is lost: two events ran side by side, and the later one's stands", l.What, of))
	}
	return texts
}

// trouble tells the person once that something beside the hooks goes wrong.
func (t *trip) trouble(what, text string, err error) {
	if t.executor.troubles.tell(what, err) {
		t.notices = append(t.notices, protocol.HookText{Hook: selfName, Text: fmt.Sprintf("%s: %v", text, err)})
	}
}
