package acpcmd

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/executor/proxied"
)

// hooks opens the hooks of the projects that the sessions of an agent work in.
type hooks struct {
	ctx    context.Context // of the command
	opener *engine.Opener
	own    *engine.Engine // of the working directory
	cwd    string

	mu     sync.Mutex
	opened map[string]*engine.Engine // by working directory of the session
}

// of returns the hooks for a session that works in a folder: those of its project, and those
// of the project that the editor has started the agent in. A folder of the command line
// (--project) is the project of all sessions.
func (h *hooks) of(cwd string) (proxied.Hooks, error) {
	cwd = filepath.Clean(cwd)
	if cwd == h.cwd || h.opener.Project.Folder != "" {
		return h.own, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if e := h.opened[cwd]; e != nil {
		return e, nil
	}
	e, err := h.opener.Open(h.ctx, engine.Options{LongLived: true, HooksOnly: true, Folders: []string{cwd, h.cwd}})
	if err != nil {
		return nil, err
	}
	h.opened[cwd] = e
	return e, nil
}

// server returns the command line that starts an MCP server so that hooks of a project judge
// its calls. One that is guarded already is started by this very program: which one the agent
// would find is for the environment of the server to say.
func (h *hooks) server(name, project, command string, args []string) []string {
	self := places.Program()
	if isGuard(args) && isProgram(command, self) {
		return append([]string{self}, args...)
	}
	guard := []string{self}
	if project != "" {
		guard = append(guard, "--project", project)
	}
	return append(append(guard, "mcp", "--name", name, "--", command), args...)
}

// isGuard reports whether args of hookd guard an MCP server as we would. With other flags,
// such as another project, it is a server like any other.
func isGuard(args []string) bool {
	switch {
	case len(args) > 4 && args[0] == "mcp" && args[1] == "--name":
		return args[3] == "--"
	case len(args) > 3 && args[0] == "mcp" && strings.HasPrefix(args[1], "--name="):
		return args[2] == "--"
	}
	return len(args) > 2 && args[0] == "mcp" && args[1] == "--"
}

// isProgram reports whether a command starts a program.
func isProgram(command, program string) bool {
	path, err := exec.LookPath(command)
	if err != nil {
		return false
	}
	a, err := os.Stat(path)
	if err != nil {
		return false
	}
	b, err := os.Stat(program)
	return err == nil && os.SameFile(a, b)
}
