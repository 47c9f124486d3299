package bridgecmd

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor/bridge"
)

// leastWriting is how long an agent has to take a reply even when it is late, and then the
// reason why it was not taken.
const leastWriting = 100 * time.Millisecond

// refusable reports whether the agent can be refused the event of a call.
func refusable(call *bridge.Call) bool {
	refusal := call.Refuse(errUnread)
	return refusal.Exit != 0 || len(refusal.Stdout) > 0
}

// write writes a reply, until a time. What the agent reads comes first, since a full stderr
// must not keep that from it. A reply that cannot be written refuses by its exit code what
// can be refused: an agent that has read half of it, or nothing, would go on otherwise.
func (cmd *Commands) write(notes *heldNotes, until time.Time, r bridge.Reply, refusable bool) error {
	if least := time.Now().Add(leastWriting); until.Before(least) {
		until = least
	}
	stderr := append(notes.release(until), r.Stderr...)
	if err := writeUntil(cmd.Console.Out.W, r.Stdout, until); err != nil {
		r.Exit = cli.ExitFailed
		if refusable {
			r.Exit = cli.ExitRefused
		}
		notes.release(time.Now().Add(leastWriting)) // the time may be over, and this is the reason
		stderr = fmt.Appendf(stderr, "hookd: the answer cannot be written: %s\n", show.OneLine(err.Error()))
	}
	_, _ = notes.Write(stderr) // an agent that does not read it has the answer all the same
	if r.Exit != 0 {
		return cli.ExitCode(r.Exit)
	}
	return nil
}

// heldNotes is the stderr of a bridge. What is written to it while the hooks decide is held,
// so that a stderr that nobody reads keeps nobody from the answer.
type heldNotes struct {
	to io.Writer

	mu       sync.Mutex
	held     []byte
	released time.Time // until when is written what comes now, zero while it is held
}

// mostHeld bounds what is held. What is more is left out.
const mostHeld = 1 << 20

// holdNotes has the console's stderr held.
func holdNotes(console *cli.Console) *heldNotes {
	n := &heldNotes{to: console.Err.W}
	console.Err.W = n
	return n
}

func (n *heldNotes) Write(text []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.released.IsZero() {
		return len(text), writeUntil(n.to, text, n.released)
	}
	n.held = append(n.held, text[:min(len(text), mostHeld-len(n.held))]...)
	return len(text), nil
}

// release returns what is held. From now on everything is written, but not past a time.
func (n *heldNotes) release(until time.Time) []byte {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.released = until
	return n.held
}

// errUnread says that an agent did not take what was written to it.
var errUnread = errors.New("nobody reads it")

// writeUntil writes, and gives up at a time. A write that hangs then ends with this process.
func writeUntil(to io.Writer, text []byte, until time.Time) error {
	if len(text) == 0 {
		return nil
	}
	written := make(chan error, 1)
	go func() {
		_, err := to.Write(text)
		written <- err
	}()
	late := time.NewTimer(time.Until(until))
	defer late.Stop()
	select {
	case err := <-written:
		return err
	case <-late.C:
		return errUnread
	}
}
