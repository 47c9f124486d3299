package main

import (
	"sync"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/protocol"
)

// noteText is a note as a program reads it: one of hookd's own notices.
func noteText(text, remedy string) protocol.HookText {
	if remedy != "" {
		text += " (" + remedy + ")"
	}
	return protocol.HookText{Hook: "hookd", Text: text}
}

// heldNotes are the notes of a command that prints one object: they are part of it.
type heldNotes struct {
	mu   sync.Mutex
	list []protocol.HookText
}

// hold has notes kept for the object. What is noted after it was printed goes to the
// person, as ever.
func (a *app) hold() *heldNotes {
	h := &heldNotes{}
	a.noted = func(text, remedy string) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.list = append(h.list, noteText(text, remedy))
	}
	return h
}

// late keeps what hooks say that nobody waited for; what went wrong with them is part of
// their runs.
func (h *heldNotes) late(_ *protocol.Event, _ *protocol.Run, notice *protocol.HookText) {
	if notice == nil || notice.Failure != "" || notice.Warning {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = append(h.list, *notice)
}

// take returns the notes so far, once.
func (h *heldNotes) take() []protocol.HookText {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := h.list
	h.list = nil
	return list
}

// spill tells the person what no object has told, because of an error before it.
func (a *app) spill(h *heldNotes) {
	a.noted = nil
	for _, n := range h.take() {
		a.note(n.Text, "")
	}
}

// note prints a line for the person, apart from the command's own output; a program
// reads it as a notice of hookd's own.
func (a *app) note(text, remedy string) {
	if a.noted != nil {
		a.noted(text, remedy)
		return
	}
	a.err.Print("%s %s\n", a.err.In(show.Warn, "hookd: note:"), show.Line(text))
	if remedy != "" {
		a.err.Print("%s %s\n", a.err.In(show.Quiet, "hookd: hint:"), show.Line(remedy))
	}
}
