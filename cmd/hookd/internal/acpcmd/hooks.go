package acpcmd

import (
	"context"
	"path/filepath"
	"sync"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
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
