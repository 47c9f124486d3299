package executor

import (
	"maps"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// judgements are texts of recipes that hooks asked for with callback.as
// "state", until the hook is asked again. They live in memory: a recipe belongs
// to a run, and so does what came of it.
type judgements struct {
	mu    sync.Mutex
	texts map[judgementKey]string
}

type judgementKey struct {
	session string
	agent   string // a recipe's own thread, or a sub-agent beside it, does not take it away
	hook    hookKey
}

// CallbackResult returns what keeps a recipe's text for a hook; see
// [protocol.EventGate]. A newer text takes the place of one that the hook has not read.
func (e *Executor) CallbackResult(session, agent string, hook protocol.HookRef) func(text string) {
	return func(text string) {
		e.judgements.keep(judgementKey{session, agent, hookKey{hook.Layer, hook.Name}}, text)
	}
}

func (j *judgements) keep(key judgementKey, text string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.texts == nil {
		j.texts = map[judgementKey]string{}
	}
	j.texts[key] = text
}

// give is a hook's state with the text that waits for it as the member callback.
// A state that is no object stands aside in the member state.
func (j *judgements) give(session, agent string, h *Hook, state protocol.RawMessage) protocol.RawMessage {
	j.mu.Lock()
	defer j.mu.Unlock()
	key := judgementKey{session, agent, keyOf(h)}
	text, waits := j.texts[key]
	if !waits {
		return state
	}
	delete(j.texts, key)
	members := map[string]protocol.RawMessage{}
	if len(state) > 0 && jsonspan.Kind(state) != 'n' {
		if jsonspan.Kind(state) != '{' || json.Unmarshal(state, &members) != nil {
			members = map[string]protocol.RawMessage{"state": state}
		}
	}
	members["callback"], _ = protocol.Marshal(text)
	encoded, err := protocol.Marshal(members)
	if err != nil { // the state was checked when it was kept
		return state
	}
	return encoded
}

func (j *judgements) forget(session string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	maps.DeleteFunc(j.texts, func(key judgementKey, _ string) bool { return key.session == session })
}
