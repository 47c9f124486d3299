package engine

import (
	"slices"
	"strings"
	"sync"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/protocol"
)

// HooksCutOff are the hooks that did not hear of an event, or were ended before they had
// answered, because hookd ended.
type HooksCutOff struct{ hooksAtEvents }

// Add keeps a hook that was cut off at an event.
func (c *HooksCutOff) Add(ev *protocol.Event, h *executor.Hook) { c.add(ev, h) }

// Note prints which hooks were cut off. forced says that a second signal did it.
func (c *HooksCutOff) Note(console *cli.Console, forced bool) {
	names := c.String()
	if names == "" {
		return
	}
	remedy := "make them faster, or raise hooks.drain"
	if forced {
		remedy = ""
	}
	console.Note("cut off by the end of hookd: "+names, remedy)
}

// hooksAtEvents are hooks with the events that they were asked about, in order.
type hooksAtEvents struct {
	mu   sync.Mutex
	list []hookAtEvent
}

type hookAtEvent struct {
	hook  string
	event protocol.EventName
}

func (l *hooksAtEvents) add(ev *protocol.Event, h *executor.Hook) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, hookAtEvent{h.Name, ev.Event})
}

func (l *hooksAtEvents) remove(ev *protocol.Event, h *executor.Hook) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.list, hookAtEvent{h.Name, ev.Event}); i >= 0 {
		l.list = slices.Delete(l.list, i, i+1)
	}
}

// String names each hook once with its events, "" if there is none.
func (l *hooksAtEvents) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var names []string
	events := map[string][]string{}
	for _, h := range l.list {
		if events[h.hook] == nil {
			names = append(names, h.hook)
		}
		if name := string(h.event); !slices.Contains(events[h.hook], name) {
			events[h.hook] = append(events[h.hook], name)
		}
	}
	for i, name := range names {
		names[i] = show.Line(name) + " at " + show.AndList(events[name])
	}
	return strings.Join(names, "; ")
}
