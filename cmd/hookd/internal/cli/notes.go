package cli

import (
	"sync"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/protocol"
)

// Note prints a line for the person, apart from the output of the command. A program that
// reads the output gets it as a notice of hookd itself.
func (c *Console) Note(text, remedy string) {
	if c.notes != nil {
		c.notes(text, remedy)
		return
	}
	c.Err.Print("%s %s\n", c.Err.In(show.Warn, "hookd: note:"), show.Line(text))
	if remedy != "" {
		c.Err.Print("%s %s\n", c.Err.In(show.Quiet, "hookd: hint:"), show.Line(remedy))
	}
}

// NoteTo sends the notes to a function in place of the person, nil for the person again.
func (c *Console) NoteTo(notes func(protocol.HookText)) {
	c.notes = nil
	if notes != nil {
		c.notes = func(text, remedy string) {
			if remedy != "" {
				text += " (" + remedy + ")"
			}
			notes(protocol.HookText{Hook: "hookd", Text: text})
		}
	}
}

// NotesArePrinted reports whether every note is read: by a person, or by a program in the
// output. Without that, a command with --json keeps what is no error to itself.
func (c *Console) NotesArePrinted() bool { return !c.JSON || c.notes != nil }

// HeldNotes are the notes of a command that prints one object: they are part of it.
type HeldNotes struct {
	mu   sync.Mutex
	list []protocol.HookText
}

// HoldNotes keeps the notes for the object that the command prints.
func (c *Console) HoldNotes() *HeldNotes {
	h := &HeldNotes{}
	c.NoteTo(h.Add)
	return h
}

// Add keeps another notice.
func (h *HeldNotes) Add(notice protocol.HookText) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = append(h.list, notice)
}

// Take returns the notes so far, once.
func (h *HeldNotes) Take() []protocol.HookText {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := h.list
	h.list = nil
	return list
}

// ReleaseNotes prints the notes that no object holds, because of an error before it. From
// now on notes go to the person.
func (c *Console) ReleaseNotes(h *HeldNotes) {
	c.NoteTo(nil)
	for _, n := range h.Take() {
		c.Note(n.Text, "")
	}
}
