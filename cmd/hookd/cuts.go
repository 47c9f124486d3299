package main

import (
	"slices"
	"strings"
	"sync"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/protocol"
)

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
		names[i] = show.Line(name) + " at " + andList(events[name])
	}
	return strings.Join(names, "; ")
}

// tellCuts says which hooks did not hear of an event, or not to their own end,
// although it was due. hurried says that a second signal did not let them.
func (a *app) tellCuts(cuts *hooksAtEvents, hurried bool) {
	names := cuts.String()
	if names == "" {
		return
	}
	remedy := "make them faster, or raise hooks.drain"
	if hurried {
		remedy = ""
	}
	a.note("cut off by the end of hookd: "+names, remedy)
}
