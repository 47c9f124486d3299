package mcpproxy

import (
	"crypto/sha256"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// Bounds of tasks that are remembered. The oldest is forgotten first.
const (
	mostTasks = 1024
	mostAgain = 64 << 10 // bytes of a changed result that is kept for the next one who asks
)

// tasks are the calls whose result comes later, by the ids that the server gave them. The
// client asks for it (tasks/get, tasks/result), or is told (notifications/tasks).
type tasks struct {
	mu    sync.Mutex
	list  map[string]*task
	order []string
}

// task is a call whose result comes later. Hooks judge it once, however often it comes.
type task struct {
	call *call

	mu     sync.Mutex
	judged [sha256.Size]byte // what was judged
	is     protocol.RawMessage
	known  bool // judged and is say something
	over   bool // hooks were told how the call ended
}

func newTasks() *tasks { return &tasks{list: map[string]*task{}} }

func (t *tasks) add(id string, c *call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.list[id] == nil {
		if len(t.order) >= mostTasks {
			delete(t.list, t.order[0])
			t.order = t.order[1:]
		}
		t.order = append(t.order, id)
	}
	t.list[id] = &task{call: c}
}

func (t *tasks) get(id string) *task {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.list[id]
}

// end tells hooks of the calls whose result nobody has asked for.
func (t *tasks) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, id := range t.order {
		if task := t.list[id]; !task.over {
			task.call.lost(protocol.CallError{Kind: protocol.CallAborted, Text: "aborted: the connection has ended before the result of the task was read"})
		}
	}
}

// taskOf returns the id of the task that an answer to a call is, "" if it is none.
func taskOf(m *relay.Message) string {
	switch {
	case !m.Strict:
	case jsonspan.Text(jsonspan.Get(m.Result, "resultType")) == "task":
		return jsonspan.Text(jsonspan.Get(m.Result, "taskId"))
	case jsonspan.Get(m.Result, "content") == nil:
		return jsonspan.Text(jsonspan.Find(m.Result, "/task/taskId"))
	}
	return ""
}

// becomesTask passes on that the result comes later.
func (c *call) becomesTask(m *relay.Message, id string) relay.Decision {
	later := &call{Call: c.Call, asked: asked{modern: c.asked.modern}, guard: c.guard, began: c.began, contexts: c.contexts, ctx: c.guard.life}
	c.guard.tasks.add(id, later)
	return c.passWith(m, "result", nil)
}

// taskAsked returns the id of the task that a request is about.
func taskAsked(m *relay.Message) (string, error) {
	if !m.Strict {
		return "", errors.New("the request has a member twice, or text that is not valid UTF-8: hookd and the server could read two different tasks")
	}
	for _, member := range jsonspan.Members(m.Params) {
		if member.Name != "taskId" && strings.EqualFold(strings.TrimRight(member.Name, "\x00"), "taskId") {
			return "", errors.New("the request has the member " + string(jsonspan.Quote(member.Name)) + ", which some programs take for taskId")
		}
	}
	return jsonspan.Text(jsonspan.Get(m.Params, "taskId")), nil
}

// polled takes the answer to a request for a task. What it holds of the call's end is judged
// as if the call had ended with it.
func (g *guard) polled(m *relay.Message, method, id string) relay.Decision {
	if method == "tasks/result" {
		member, value := "result", m.Result
		if m.Error != nil {
			member, value = "error", m.Error
		}
		return g.ofTask(m, id, member, value, func(to protocol.RawMessage) []byte { return m.With(member, to) })
	}
	return g.inTask(m, id, "result", m.Result)
}

// told takes a notification that says how a task stands.
func (g *guard) told(m *relay.Message) relay.Decision {
	return g.inTask(m, jsonspan.Text(jsonspan.Get(m.Params, "taskId")), "params", m.Params)
}

// inTask takes a message one of whose members says how a task stands.
func (g *guard) inTask(m *relay.Message, id, holder string, state protocol.RawMessage) relay.Decision {
	for _, member := range []string{"result", "error"} {
		if value := jsonspan.Get(state, member); value != nil {
			return g.ofTask(m, id, member, value, func(to protocol.RawMessage) []byte {
				return m.With(holder, relay.Replace(state, member, to))
			})
		}
	}
	if t := g.tasks.get(id); t != nil && jsonspan.Text(jsonspan.Get(state, "status")) == "cancelled" && t.ends() {
		t.call.lost(aborted(errCancelled))
	}
	return relay.Pass(m.Line)
}

// ends reports whether it is the end of the call that hooks are to be told of.
func (t *task) ends() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	was := t.over
	t.over = true
	return !was
}

// ofTask has hooks judge the end of a call that a message holds: its result, or its error.
// with returns the line with another one.
func (g *guard) ofTask(m *relay.Message, id, member string, value protocol.RawMessage, with func(protocol.RawMessage) []byte) relay.Decision {
	t := g.tasks.get(id)
	if t == nil || !m.Strict {
		if !g.events.MayChangeAny(protocol.ToolCallEnd) {
			return relay.Pass(m.Line)
		}
		problem := "the result of the task was withheld: hooks judge results, and hookd does not know which call this task belongs to"
		if t != nil {
			problem = "the result of the task was withheld: hooks judge results, and it could be read in two ways"
		}
		if m.Kind != relay.Response {
			g.options.note(problem)
			return relay.Drop() // the client can ask for it
		}
		return relay.Pass(relay.ErrorLine(m.ID, relay.CodeServer, "hookd: "+problem))
	}
	return relay.Later("", func() relay.Decision {
		if to := t.judge(member, value); to != nil {
			return relay.Pass(with(to))
		}
		return relay.Pass(m.Line)
	})
}

// judge returns what the client reads in place of a result or an error, nil if it reads that.
func (t *task) judge(member string, value protocol.RawMessage) protocol.RawMessage {
	t.mu.Lock()
	defer t.mu.Unlock()
	hash := sha256.Sum256(append([]byte(member), value...))
	if t.known && hash == t.judged {
		return t.is
	}
	t.over = true
	var to protocol.RawMessage
	if member == "error" {
		to = t.call.judgeError(value, true)
	} else {
		to = withTask(returned{t.call, value, true}.judgeNow(), value)
	}
	t.judged, t.is, t.known = hash, slices.Clone(to), len(to) <= mostAgain
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

// judgeNow has hooks judge a result at once. It returns nil if the client reads it as it is.
func (r returned) judgeNow() protocol.RawMessage {
	read, problem := r.read()
	if problem != "" {
		return r.withhold(problem)
	}
	return r.judge(read, r.guard.events.Begin(r.ctx, protocol.ToolCallEnd, r.endData(read.shown, false)))
}
