package mcpproxy

import (
	"crypto/sha256"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hookd-dev/hookd/executor/proxied"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// Bounds of tasks that are remembered. The oldest is forgotten first.
const (
	mostTasks     = 1024
	mostTaskBytes = 64 << 20 // of their ids and args; one task may have more
	mostAgain     = 64 << 10 // bytes of a changed result that is kept for the next one who asks
)

// tasks are the calls whose result comes later, by the ids that the server gave them. The
// client asks for it (tasks/get, tasks/result), or is told (notifications/tasks).
type tasks struct {
	mu    sync.Mutex
	list  map[string]*task
	order []string
	bytes int
}

// task is a call whose result comes later. Hooks judge it once, however often it comes.
type task struct {
	call *call
	size int // bytes that are kept for it

	mu     sync.Mutex
	judged [sha256.Size]byte // what was judged
	is     instead
	known  bool // judged and is say something

	over atomic.Bool // hooks are told how the call ended, or will be
}

func newTasks() *tasks { return &tasks{list: map[string]*task{}} }

// add remembers a task. forgotten are those that this makes it forget.
func (t *tasks) add(id string, c *call) (forgotten []*task) {
	t.mu.Lock()
	defer t.mu.Unlock()
	added := &task{call: c, size: len(id) + len(c.Args) + len(c.Original)}
	forget := func(id string) {
		if old := t.list[id]; old != nil {
			forgotten = append(forgotten, old)
			t.bytes -= old.size
			delete(t.list, id)
			t.order = slices.DeleteFunc(t.order, func(other string) bool { return other == id })
		}
	}
	forget(id)
	for len(t.order) > 0 && (len(t.order) >= mostTasks || t.bytes+added.size > mostTaskBytes) {
		forget(t.order[0])
	}
	t.list[id], t.order, t.bytes = added, append(t.order, id), t.bytes+added.size
	return forgotten
}

func (t *tasks) get(id string) *task {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.list[id]
}

// lost tells hooks that the call has no result, unless they know how it ended.
func (t *task) lost(why string) {
	if !t.over.Swap(true) {
		t.call.lost(aborted(errors.New(why)))
	}
}

// becomesTask passes on that the result comes later.
func (c *call) becomesTask(m *relay.Message, id string) relay.Decision {
	for _, forgotten := range c.guard.tasks.add(id, c.later()) {
		forgotten.lost("the server has begun other tasks since, and hookd knows this one no more")
	}
	if !c.done() {
		return relay.Drop()
	}
	return c.guard.inTask(m, id, "result", m.Result)
}

// later returns the call as one whose end comes with another message. Where a server gives several
// ends, hooks judge each.
func (c *call) later() *call {
	return &call{Call: c.Call, told: c.told.Anew(), asked: asked{method: c.asked.method, modern: c.asked.modern}, guard: c.guard, contexts: c.contexts, ctx: c.guard.life}
}

// taskAsked returns the id of the task that a request is about.
func taskAsked(m *relay.Message) (string, error) {
	if params := jsonspan.ReplaceLoneSurrogates(slices.Clone(m.Params)); !m.Strict && !jsonspan.Valid(params) {
		return "", errors.New("the request has a member twice, or text that is not valid UTF-8: hookd and the server could read two different tasks")
	}
	if member := proxied.Misread(m.Params, "taskId"); member != "" {
		return "", errors.New("the request has " + member)
	}
	return jsonspan.Text(jsonspan.Get(m.Params, "taskId")), nil
}

// polled takes the answer to a request for a task. What it holds of the call's end is judged
// as if the call had ended with it.
func (g *guard) polled(m *relay.Message, method, id string) relay.Decision {
	if method == "tasks/result" {
		end := taskEnd{member: "result", value: m.Result}
		if m.Error != nil {
			end = taskEnd{member: "error", value: m.Error}
		}
		return g.ofTask(m, id, end, func(to protocol.RawMessage) []byte { return m.With(end.member, to) })
	}
	return g.inTask(m, id, "result", m.Result)
}

// told takes a notification that says how a task stands.
func (g *guard) told(m *relay.Message) relay.Decision {
	return g.inTask(m, jsonspan.Text(jsonspan.Get(m.Params, "taskId")), "params", m.Params)
}

// inTask takes a message one of whose members says how a task stands.
func (g *guard) inTask(m *relay.Message, id, holder string, state protocol.RawMessage) relay.Decision {
	if end := endIn(state); end.member != "" {
		return g.ofTask(m, id, end, func(to protocol.RawMessage) []byte {
			return m.With(holder, relay.Replace(state, end.member, to))
		})
	}
	if t := g.tasks.get(id); t != nil && jsonspan.Text(jsonspan.Get(state, "status")) == "cancelled" {
		t.lost(errCancelled.Error())
	}
	return relay.Pass(m.Line)
}

// taskEnd is the end of a call that a message holds: its result, or its error.
type taskEnd struct {
	member  string // that holds it, "" if there is none
	value   protocol.RawMessage
	unclear bool // the client could read another one
}

// endIn returns the end of a call in what says how its task stands. Members that some programs take
// for one, and those that are there twice, are seen, too.
func endIn(state protocol.RawMessage) (end taskEnd) {
	for _, m := range jsonspan.Members(state) {
		name, _, _ := strings.Cut(m.Name, "\x00")
		for _, known := range []string{"result", "error", "content", "structuredContent", "toolResult"} {
			if empty := known == "content" && jsonspan.Equal(m.Value, []byte("[]")); strings.EqualFold(name, known) && !empty && !jsonspan.IsNull(m.Value) {
				end.unclear = end.member != "" || m.Name != "result" && m.Name != "error"
				end.member, end.value = m.Name, m.Value
			}
		}
	}
	return end
}

// ofTask has hooks judge the end of a call. with returns the line with another one.
func (g *guard) ofTask(m *relay.Message, id string, end taskEnd, with func(protocol.RawMessage) []byte) relay.Decision {
	t := g.tasks.get(id)
	if t == nil || end.unclear {
		if !g.events.MayChangeAny(protocol.ToolCallEnd) && !g.events.MayChangeAny(protocol.ToolCallError) {
			return relay.Pass(m.Line)
		}
		problem := "the result of the task was withheld: hooks judge results, and hookd does not know which call this task belongs to"
		if t != nil {
			problem = "the result of the task was withheld: hooks judge results, and it could be read in two ways"
		}
		return g.endsInError(m, problem)
	}
	t.over.Store(true)
	return relay.Later("", func() relay.Decision {
		switch to := t.judge(end); {
		case to.refusal != "":
			return g.endsInError(m, to.refusal)
		case to.value != nil:
			return relay.Pass(with(to.value))
		}
		return relay.Pass(m.Line)
	})
}

// endsInError says that the end of a call is withheld where no result can say it.
func (g *guard) endsInError(m *relay.Message, problem string) relay.Decision {
	if m.Kind != relay.Response {
		g.options.note(problem)
		return relay.Drop() // the client can ask for it
	}
	return relay.Pass(instead{refusal: problem}.line(m.ID))
}

// judge returns what the client reads in place of the end of the call.
func (t *task) judge(end taskEnd) instead {
	t.mu.Lock()
	defer t.mu.Unlock()
	hash := sha256.Sum256(append([]byte(end.member), end.value...))
	if t.known && hash == t.judged {
		return t.is
	}
	var to instead
	if end.member == "error" {
		to.value = t.call.later().judgeError(end.value)
	} else {
		to = resultOfCall(t.call.later(), end.value).judgeNow()
		to.value = withTask(to.value, end.value)
	}
	to.value = slices.Clone(to.value)
	t.judged, t.is, t.known = hash, to, len(to.value)+len(to.refusal) <= mostAgain
	return to
}

// relatedTask is where a result names the task that it is of.
const relatedTask = "io.modelcontextprotocol/related-task"

// withTask returns a result that stands in place of another one, of the same task.
func withTask(to, value protocol.RawMessage) protocol.RawMessage {
	of := jsonspan.Get(jsonspan.Get(value, "_meta"), relatedTask)
	if to == nil || of == nil || jsonspan.Get(to, "_meta") != nil {
		return to
	}
	return jsonspan.With(to, "_meta", append(append([]byte(`{"`+relatedTask+`":`), of...), '}'))
}

// judgeNow has hooks judge a result at once.
func (r returned) judgeNow() instead {
	read, problem := r.read()
	if problem != "" {
		return r.withhold(problem)
	}
	return r.judge(read, r.told.Result(r.ctx, read.shown, false))
}
