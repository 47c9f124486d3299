package mcpcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor/mcpproxy"
	"github.com/hookd-dev/hookd/executor/process"
)

// server is the program of the server, and its stderr on its way to ours.
type server struct {
	child   *process.Child
	program string
	stderr  chan []byte
	written chan struct{} // closed when all of it is written
}

// start starts the server in the working directory, with our whole environment: it is the
// program that the host would have started.
func (cmd *Commands) start(argv []string, cwd string) (*server, error) {
	path, err := exec.LookPath(argv[0])
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return nil, cli.Failed("no-server", fmt.Errorf("the server cannot be started: %w", err), "write its command as a terminal would find it, or its absolute path")
	}
	s := &server{program: argv[0], stderr: make(chan []byte, 64), written: make(chan struct{})}
	s.child, err = cmd.Opener.Processes.Runtime().Start(context.Background(), &process.Command{
		Path: path, Argv: argv, Dir: cwd, Env: os.Environ(), StderrStream: s.takeStderr,
	})
	if err != nil {
		return nil, cli.Failed("no-server", fmt.Errorf("the server cannot be started: %w", err), "")
	}
	cmd.Opener.Closers.Add(func() error { s.child.End(0); return nil })
	go func() {
		defer close(s.written)
		for piece := range s.stderr {
			cmd.Console.Err.W.Write(piece)
		}
	}()
	return s, nil
}

// takeStderr passes a piece of the server's stderr on. What nobody reads in time is dropped:
// a host that does not read must not keep the server from ending.
func (s *server) takeStderr(piece []byte) {
	select {
	case s.stderr <- append([]byte(nil), piece...):
	default:
	}
}

// flush waits a moment until the server's stderr is written. The server must have ended.
func (s *server) flush() {
	s.child.Result()
	close(s.stderr)
	select {
	case <-s.written:
	case <-time.After(200 * time.Millisecond):
	}
}

func (s *server) process() *mcpproxy.Process {
	return &mcpproxy.Process{
		In: s.child.Stdin, Out: s.child.Stdout, Done: s.child.Done(),
		End:   func(patience time.Duration) { s.child.End(patience) },
		Ended: s.how,
	}
}

// how says how the server has ended.
func (s *server) how() string {
	r := s.child.Result()
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

// failure says that the server has ended by itself as it should not.
func (s *server) failure() error {
	r := s.child.Result()
	if r.Err != nil || r.ExitCode == 0 {
		return nil
	}
	return cli.Failed("server", fmt.Errorf("the MCP server %s has ended: %s", s.program, s.how()), "its own messages are above")
}
