//go:build unix

package chat

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/creack/pty"
	"golang.org/x/term"
)

// TestPanicGivesTheTerminalBack asserts that a fault in the chat leaves the
// terminal as it was, and ends the program with an error.
func TestPanicGivesTheTerminalBack(t *testing.T) {
	if os.Getenv(panicVariable) != "" {
		panicAtTerminal()
		return
	}
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
	// In a process of its own, as in life: after a panic the library still reads
	// while it closes what it reads from, which counts as a race of this test.
	child := exec.Command(os.Args[0], "-test.run=^TestPanicGivesTheTerminalBack$")
	child.Env = append(os.Environ(), panicVariable+"=1")
	child.Stdin, child.Stdout = slave, slave
	var said bytes.Buffer
	child.Stderr = &said
	_ = child.Run()
	if !strings.Contains(said.String(), saidPanic) {
		t.Errorf("the program ended with %s", said.String())
	}
	after, err := term.GetState(int(slave.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(before, after) {
		t.Errorf("the terminal was %+v and is %+v", before, after)
	}
}

const (
	panicVariable = "HOOKD_TEST_PANIC"
	saidPanic     = "ended with the panic"
)

// panicAtTerminal is the child of TestPanicGivesTheTerminalBack.
func panicAtTerminal() {
	broken := &fullScreen{screen: newScreen(80, false)}
	broken.screen.talk.view = nil // the next update panics
	broken.program = tea.NewProgram(teaModel{broken}, tea.WithInput(os.Stdin), tea.WithOutput(os.Stdout), tea.WithoutSignalHandler(), tea.WithContext(context.Background()))
	go broken.program.Send(yieldMsg{})
	if _, err := broken.program.Run(); errors.Is(err, tea.ErrProgramPanic) {
		os.Stderr.WriteString(saidPanic)
	}
}
