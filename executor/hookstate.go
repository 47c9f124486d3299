package executor

import (
	"fmt"
	"maps"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/executor/state"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// snapshot returns what hooks remember now.
func (s *hookState) snapshot(r *request) *state.Snapshot {
	if s.now == nil {
		snapshot := state.Snapshot{}
		if session := r.event.Session.ID; session != "" {
			snapshot, s.readErr = r.executor.states.Read(session)
		}
		s.before, s.now = &snapshot, &snapshot
	}
	return s.now
}

// checkState returns what a reply wants the hook to remember. What may not be kept is
// taken out and becomes a warning: the rest of the reply counts all the same.
func (s *hookState) checkState(r *request, h *Hook, answer *protocol.Answer) []state.Write {
	if answer.Reply == nil {
		return nil
	}
	limits := &r.set.settingsOf(h).Limits
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
		if problem := r.stateProblem(h, value.what, value.value, value.limit); problem != "" {
			answer.Warnings = append(answer.Warnings, fmt.Sprintf("%s is not kept: %s", value.what, problem))
			continue
		}
		s.snapshot(r) // what was stored when this event's hooks began to look
		key := stateKey(h)
		writes = append(writes, state.Write{
			Key: key, What: value.what, Value: value.value,
			Seq: r.event.Seq, Epoch: r.event.Epoch, Saw: s.before.Revision(key, value.what),
		})
	}
	return writes
}

// stateProblem returns why a value may not be kept, "" if it may.
func (r *request) stateProblem(h *Hook, what state.What, value protocol.RawMessage, limit int64) string {
	switch {
	case int64(len(value)) > limit:
		return fmt.Sprintf("it has %d bytes, the limit is %d", len(value), limit)
	case !jsonspan.Valid(value):
		return "it is not JSON"
	case what == state.State && r.event.Session.ID == "":
		return "the event belongs to no session"
	case what == state.Metadata && h.Mode == protocol.Audit:
		// Other hooks decide by it.
		return "the hook runs in audit mode"
	}
	return ""
}

// keep makes values visible to the later hooks of this event. They reach other events
// when this one goes on.
func (s *hookState) keep(writes []state.Write) {
	snapshot, _ := s.now.With(writes)
	s.now = &snapshot
	s.writes = append(s.writes, writes...)
}

// commit writes what the hooks want kept before the event goes on. It returns the values
// that are overwritten by it, and notices if it could not be written.
func (s *hookState) commit(r *request) (overwritten []state.Overwritten, notices []protocol.HookText) {
	problems := &r.executor.problems
	if s.readErr != nil { // only a write shows that the problem is over
		notices = problems.report("state", "what hooks remember could not be read", s.readErr)
	}
	if session := r.event.Session.ID; len(s.writes) > 0 && session != "" {
		var err error
		overwritten, err = r.executor.states.Write(session, s.writes)
		notices = append(notices, problems.report("state", "what hooks remember could not be written; it is gone when this process ends", err)...)
	}
	return overwritten, notices
}

// stateKey names a hook wherever the session is at work: in an inner project it is
// known as ../guard.sh.
func stateKey(h *Hook) state.Key {
	if h.Home == "" {
		return state.Key{Layer: h.Layer, Name: h.Name}
	}
	return state.Key{Layer: h.Layer, Project: h.Home, Name: strings.TrimPrefix(h.Name, projectPrefix(h))}
}

// callbackResults are texts of recipes that hooks asked for with callback.as "state",
// until the hook is asked again. They live in memory: a recipe belongs to a run, and
// so does what came of it.
type callbackResults struct {
	mu    sync.Mutex
	texts map[callbackKey]string
}

type callbackKey struct {
	session string
	agent   string // the recipe's own thread, or another sub-agent, does not take it away
	hook    hookKey
}

// addTo returns a hook's state with the text that waits for it as the member callback.
// A state that is no object becomes the member state.
func (c *callbackResults) addTo(value protocol.RawMessage, session, agent string, h *Hook) protocol.RawMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := callbackKey{session, agent, keyOf(h)}
	text, waits := c.texts[key]
	if !waits {
		return value
	}
	delete(c.texts, key)
	members := map[string]protocol.RawMessage{}
	if len(value) > 0 && jsonspan.Kind(value) != 'n' {
		if jsonspan.Kind(value) != '{' || json.Unmarshal(value, &members) != nil {
			members = map[string]protocol.RawMessage{"state": value}
		}
	}
	members["callback"], _ = protocol.Marshal(text)
	encoded, err := protocol.Marshal(members)
	if err != nil { // the state was checked when it was kept
		return value
	}
	return encoded
}

func (c *callbackResults) forget(session string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.texts, func(key callbackKey, _ string) bool { return key.session == session })
}
