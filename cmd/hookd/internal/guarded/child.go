package guarded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/executor/proxied"
)

// What names the kind of program in messages to the person.
type What struct {
	Code string // of errors: "server"
	Name string // "the MCP server"

	Env []string // variables that it has besides ours, or in their place
}

// Child is the program, and its stderr on its way to ours.
type Child struct {
	what    What
	child   *process.Child
	program string
	stderr  chan []byte
	written chan struct{} // closed when all of it is written
}

// Start starts the program in the working directory, with our whole environment: it is the
// program that the host would have started. It is looked up on its own PATH.
func Start(opener *engine.Opener, what What, argv []string, cwd string) (*Child, error) {
	path, err := lookPath(argv[0], what.Env)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return nil, cli.Failed("no-"+what.Code, fmt.Errorf("%s cannot be started: %w", what.Name, err), "write its command as a terminal would find it, or its absolute path")
	}
	c := &Child{what: what, program: argv[0], stderr: make(chan []byte, 64), written: make(chan struct{})}
	c.child, err = opener.Processes.Runtime().Start(context.Background(), &process.Command{
		Path: path, Argv: argv, Dir: cwd, Env: withVariables(os.Environ(), what.Env), StderrStream: c.takeStderr,
	})
	if err != nil {
		return nil, cli.Failed("no-"+what.Code, fmt.Errorf("%s cannot be started: %w", what.Name, err), "")
	}
	opener.Closers.Add(func() error { c.child.End(0); return nil })
	go func() {
		defer close(c.written)
		for piece := range c.stderr {
			opener.Console.Err.W.Write(piece)
		}
	}()
	return c, nil
}

// takeStderr passes a piece of the program's stderr on. What nobody reads in time is dropped:
// a host that does not read must not keep the program from ending.
func (c *Child) takeStderr(piece []byte) {
	select {
	case c.stderr <- append([]byte(nil), piece...):
	default:
	}
}

// Flush waits a moment until the program's stderr is written. The program must have ended.
func (c *Child) Flush() {
	c.child.Result()
	close(c.stderr)
	select {
	case <-c.written:
	case <-time.After(200 * time.Millisecond):
	}
}

// Process is the program as a proxy knows it.
func (c *Child) Process() *proxied.Process {
	return &proxied.Process{
		In: c.child.Stdin, Out: c.child.Stdout, Done: c.child.Done(),
		End:   func(patience time.Duration) { c.child.End(patience) },
		Ended: c.how,
	}
}

// how says how the program has ended.
func (c *Child) how() string {
	r := c.child.Result()
	switch {
	case errors.Is(r.Err, process.ErrEnded):
		return "hookd ended it"
	case r.Err != nil:
		return show.OneLine(r.Err.Error())
	case r.Signal != "":
		return r.Signal
	}
	return fmt.Sprintf("exit code %d", r.ExitCode)
}

// Failure says that the program has ended by itself as it should not.
func (c *Child) Failure() error {
	r := c.child.Result()
	if r.Err != nil || r.ExitCode == 0 {
		return nil
	}
	return cli.Failed(c.what.Code, fmt.Errorf("%s %s has ended: %s", c.what.Name, c.program, c.how()), "its own messages are above")
}
