//go:build unix && !lean

package main

import (
	"context"
	"errors"
	"io"
	"reflect"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/creack/pty"
	"golang.org/x/term"
)

// TestPanicGivesTheTerminalBack asserts that a fault in the chat leaves the
// terminal as it was, and ends the program with an error.
func TestPanicGivesTheTerminalBack(t *testing.T) {
	master, slave, err := pty.Open()
	if err != nil {
		t.Skipf("no terminal to be had: %v", err)
	}
	defer master.Close()
	defer slave.Close()
	go io.Copy(io.Discard, master)
	before, err := term.GetState(int(slave.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	broken := &terminalChat{chat: newChat(80, false)}
	broken.chat.run = nil // the next yield panics
	broken.program = tea.NewProgram(teaModel{broken}, tea.WithInput(slave), tea.WithOutput(slave), tea.WithoutSignalHandler(), tea.WithContext(context.Background()))
	go broken.program.Send(yieldMsg{})
	if _, err = broken.program.Run(); !errors.Is(err, tea.ErrProgramPanic) {
		t.Errorf("the program ended with %v", err)
	}
	after, err := term.GetState(int(slave.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(before, after) {
		t.Errorf("the terminal was %+v and is %+v", before, after)
	}
}
