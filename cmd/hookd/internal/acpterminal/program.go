package acpterminal

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/protocol/rpc/socket"
)

const (
	// Role is the first argument of hookd as the screen of a command; the socket's path follows.
	Role = "acp-terminal"

	// wordName is the variable that holds the word by which the agent knows the screen. A word
	// among the arguments every user of the machine could read.
	wordName = "HOOKD_ACP_TERMINAL"
)

// Run is hookd as a screen, if the arguments say so. It returns its exit code.
func Run(args []string) (code int, is bool) {
	if len(args) == 0 || args[0] != Role {
		return 0, false
	}
	return run(args[1:], os.Getenv(wordName), os.Stdout, os.Stderr), true
}

func run(args []string, word string, out, stderr io.Writer) (code int) {
	if len(args) != 1 || word == "" {
		_, _ = fmt.Fprintf(stderr, "hookd: %s shows a command of hookd acp in a terminal of your editor; hookd acp has the editor start it\n", Role)
		return 2
	}
	ctx, cancel := context.WithTimeout(context.Background(), connectLimit)
	defer cancel()
	conn, err := socket.Dial(ctx, args[0], "")
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "hookd: this terminal shows nothing, the command is hookd's to run: %s\n", show.Line(err.Error()))
		return 1
	}
	defer conn.Close()
	return follow(conn, word, out)
}

// connectLimit is how long a screen tries to reach the agent.
const connectLimit = 5 * time.Second

// follow prints what the agent sends until the command has ended, and returns the exit code.
func follow(conn net.Conn, word string, out io.Writer) (code int) {
	if _, err := io.WriteString(conn, word+"\n"); err != nil {
		return lost(out)
	}
	frames, room := bufio.NewReaderSize(conn, mostInFrame), make([]byte, mostInFrame)
	for {
		kind, content, err := readFrame(frames, room)
		switch {
		case err != nil:
			return lost(out)
		case kind == frameOutput:
			if _, err := out.Write(content); err != nil {
				return 1 // nobody sees it any more: the end of the connection ends the command
			}
		case kind == frameEnd:
			e, err := readEnding(content)
			if err != nil {
				return lost(out)
			}
			say(out, e.Note)
			return e.Exit
		}
	}
}

func lost(out io.Writer) int {
	say(out, "nothing more is shown here: hookd has ended, or this terminal did not take the output for a long time")
	return 1
}

// say prints a line of hookd's own after the command's output.
func say(out io.Writer, note string) {
	if note != "" {
		_, _ = fmt.Fprintf(out, "\n[hookd: %s]\n", show.Line(note))
	}
}
