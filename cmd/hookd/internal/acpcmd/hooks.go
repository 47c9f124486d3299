package acpcmd

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/executor/proxied"
)

// hooks opens the hooks of the projects that the sessions of an agent work in.
type hooks struct {
	ctx    context.Context // of the command
	opener *engine.Opener
	own    *engine.Engine // of the working directory
	cwd    string         // without links

	mu     sync.Mutex
	opened map[string]*engine.Engine // by the folders of the session
}

func newHooks(ctx context.Context, opener *engine.Opener, own *engine.Engine, cwd string) *hooks {
	h := &hooks{ctx: ctx, opener: opener, own: own, cwd: cwd, opened: map[string]*engine.Engine{}}
	if real, err := filepath.EvalSymlinks(cwd); err == nil {
		h.cwd = real
	}
	return h
}

// of returns the hooks for a session that works in some folders, which are without links: those
// of their projects, and those of the project that the editor has started the agent in. A folder of
// the command line (--project) is the project of all sessions.
func (h *hooks) of(folders []string) (proxied.Hooks, error) {
	if h.opener.Project.Folder != "" {
		return h.own, nil
	}
	folders = h.with(folders)
	if len(folders) == 1 {
		return h.own, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	key := strings.Join(folders, "\x00")
	if e := h.opened[key]; e != nil {
		return e, nil
	}
	lasts := !slices.ContainsFunc(folders, isMissing) // what is not there may be another folder tomorrow
	e, err := h.opener.Open(h.ctx, engine.Options{LongLived: true, HooksOnly: true, Folders: folders})
	if err != nil {
		return nil, err
	}
	if lasts {
		h.opened[key] = e
	}
	return e, nil
}

// with adds the working directory to folders of a session. Each is there once.
func (h *hooks) with(folders []string) (all []string) {
	for _, folder := range append(slices.Clone(folders), h.cwd) {
		if !slices.Contains(all, folder) {
			all = append(all, folder)
		}
	}
	return all
}

func isMissing(folder string) bool {
	_, err := os.Stat(folder)
	return err != nil
}
