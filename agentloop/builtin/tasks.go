package builtin

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/protocol"
)

const (
	tasksName = "tasks" // hooks find the list as metadata.tasks
	todoWrite = "todo_write"

	// remindAfter is how many steps pass between a change of the list, or a
	// reminder, and the next reminder.
	remindAfter = 5
	// maxTasks is how large the list may be, in bytes of JSON: metadata of a hook
	// is 16 KiB.
	maxTasks = 12 << 10
)

// TaskList is what the model keeps with todo_write, and what hooks find as
// metadata.tasks.
type TaskList struct {
	Items []Task `json:"items"`
}

// Task is one entry of a [TaskList].
type Task struct {
	Text   string     `json:"text"`
	Status TaskStatus `json:"status"`
}

// TaskStatus is how far a task is.
type TaskStatus string

const (
	Pending    TaskStatus = "pending"
	InProgress TaskStatus = "in_progress"
	Completed  TaskStatus = "completed"
)

// todoSchema is the schema of a [TaskList] as todo_write takes it.
const todoSchema = `{
	"type": "object",
	"properties": {
		"items": {
			"type": "array", "maxItems": 50,
			"description": "the whole list, in the order of the work",
			"items": {
				"type": "object",
				"properties": {
					"text": {"type": "string", "minLength": 1, "maxLength": 500, "description": "what is to be done"},
					"status": {"type": "string", "enum": ["pending", "in_progress", "completed"]}
				},
				"required": ["text", "status"], "additionalProperties": false
			}
		}
	},
	"required": ["items"], "additionalProperties": false
}`

// Tasks lets the model plan with the tool todo_write, which replaces the whole list. The
// list is kept as the metadata tasks of the session, so that it survives a resume and
// other hooks can read it, and the person sees it as it changes.
//
// While a task is open the model is reminded of the list at step-start: first in
// a session that was resumed, then whenever 5 steps have passed since the list
// changed or a reminder was given; never at the step after a change. The list
// belongs to the main agent: sub-agents and recipes are not offered the tool.
func Tasks() provider.Provider {
	t := &tasks{since: map[string]int{}}
	return provider.Provider{
		Name: tasksName,
		Hooks: []protocol.GoHook{{
			Name:        tasksName,
			Description: "keeps the model's list of tasks and reminds it of open ones",
			Events:      []protocol.EventName{protocol.AgentStart, protocol.StepStart, protocol.ToolCallEnd},
			Match:       protocol.Match{Tool: []string{todoWrite}},
			Func:        t.onEvent,
		}},
		Tools: []tool.Tool{tool.New(tool.Description{
			Name: todoWrite,
			Description: "Keeps the list of tasks of this session. Use it for work of several steps: write the plan first, " +
				"then the whole list again whenever a task begins or is done. An empty list clears it.",
			Schema: protocol.RawMessage(todoSchema),
			Kind:   protocol.KindOther,
		}, writeTasks)},
	}
}

// writeTasks is the tool todo_write. The hook keeps what it accepts.
func writeTasks(_ context.Context, list TaskList) (protocol.Result, error) {
	encoded, err := protocol.Marshal(list)
	if err != nil {
		return protocol.Result{}, err
	}
	if len(encoded) > maxTasks {
		return tool.Failed("the list has %d bytes, %d are kept: write shorter texts, or leave out what is done", len(encoded), maxTasks), nil
	}
	return tool.OK(list.summary()), nil
}

type tasks struct {
	mu sync.Mutex
	// since is, by session, how many steps began since the list changed or a
	// reminder was given. A session that this process does not know is a resumed
	// one.
	since map[string]int
}

func (t *tasks) onEvent(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
	switch {
	case ev.Event == protocol.AgentStart && isNested(ev):
		return withoutTool(ev, todoWrite)
	case isNested(ev):
		return protocol.Reply{}, nil
	case ev.Event == protocol.StepStart && ev.Recipe == nil:
		return t.remind(ev), nil
	case ev.Event == protocol.ToolCallEnd:
		return t.keep(ev)
	}
	return protocol.Reply{}, nil
}

// withoutTool takes a tool from those that an agent is offered.
func withoutTool(ev *protocol.Event, name string) (protocol.Reply, error) {
	var data protocol.AgentStartData
	if err := json.Unmarshal(ev.Data, &data); err != nil {
		return protocol.Reply{}, err
	}
	left := slices.DeleteFunc(slices.Clone(data.Tools), func(t protocol.Tool) bool { return t.Name == name })
	if len(left) == len(data.Tools) {
		return protocol.Reply{}, nil
	}
	return protocol.Reply{Action: protocol.Modify, Changes: object("tools", left)}, nil
}

// keep keeps the list that todo_write accepted.
func (t *tasks) keep(ev *protocol.Event) (protocol.Reply, error) {
	var data protocol.ToolCallEndData
	if err := json.Unmarshal(ev.Data, &data); err != nil {
		return protocol.Reply{}, err
	}
	// A hook may have answered in the tool's place: then nothing was written.
	if data.Name != todoWrite || data.Result.IsError || data.Synthetic {
		return protocol.Reply{}, nil
	}
	var list TaskList
	if err := json.Unmarshal(data.Args, &list); err != nil {
		return protocol.Reply{}, err
	}
	if list.Items == nil {
		list.Items = []Task{}
	}
	encoded, err := protocol.Marshal(list)
	if err != nil {
		return protocol.Reply{}, err
	}
	t.mu.Lock()
	t.since[ev.Session.ID] = 1 // the step that is at work
	t.mu.Unlock()
	return protocol.Reply{Metadata: encoded, Notice: list.rendered()}, nil
}

// remind returns a reminder of open tasks, if it is time for one.
func (t *tasks) remind(ev *protocol.Event) protocol.Reply {
	list, known := tasksIn(ev.Metadata)
	if !known || !list.open() || !t.due(ev.Session.ID) {
		return protocol.Reply{}
	}
	return protocol.Reply{Context: "There are open tasks. Go on with them as far as they still matter, and keep the list up to date with " +
		todoWrite + ".\n" + list.rendered()}
}

func (t *tasks) due(session string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	passed, known := t.since[session]
	if known && passed < remindAfter {
		t.since[session] = passed + 1
		return false
	}
	t.since[session] = 1 // the step that begins now
	return true
}

// tasksIn returns the list in the metadata of an event. A list that cannot be read is
// none.
func tasksIn(metadata protocol.RawMessage) (TaskList, bool) {
	var all struct {
		Tasks *TaskList `json:"tasks"`
	}
	if len(metadata) == 0 || json.Unmarshal(metadata, &all) != nil || all.Tasks == nil {
		return TaskList{}, false
	}
	return *all.Tasks, true
}

func (l TaskList) open() bool {
	return slices.ContainsFunc(l.Items, func(t Task) bool { return t.Status != Completed })
}

func (l TaskList) summary() string {
	if len(l.Items) == 0 {
		return "no tasks"
	}
	done := 0
	for _, t := range l.Items {
		if t.Status == Completed {
			done++
		}
	}
	return fmt.Sprintf("%d of %d tasks done", done, len(l.Items))
}

// rendered returns the list for a reader, one task a line.
func (l TaskList) rendered() string {
	lines := []string{l.summary()}
	for _, t := range l.Items {
		box := map[TaskStatus]string{InProgress: "[>]", Completed: "[x]"}[t.Status]
		if box == "" {
			box = "[ ]"
		}
		lines = append(lines, box+" "+strings.Join(strings.Fields(t.Text), " "))
	}
	return strings.Join(lines, "\n")
}
