package acpagent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/hookd-dev/hookd/agentloop/store"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/sessionscmd"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/internal/fsutil"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/acp"
	"github.com/hookd-dev/hookd/protocol/rpc"
	"github.com/hookd-dev/hookd/protocol/rpc/peer"
)

// sessions are those of a connection that are open, or are being opened or closed.
type sessions struct {
	mu   sync.Mutex
	open map[string]*session
}

func (l *sessions) find(id string) *session {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open[id]
}

// add adds a session, unless there is one of that id. One that is being closed is waited for by
// the new one.
func (l *sessions) add(s *session) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if other := l.open[s.id]; other != nil {
		if !other.isClosing() {
			return false
		}
		s.after = other.gone
	}
	l.open[s.id] = s
	return true
}

func (l *sessions) remove(s *session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[s.id] == s {
		delete(l.open, s.id)
	}
}

func noSession(id string) *rpc.Error {
	return rpc.Errorf(acp.ResourceNotFound, "there is no open session %.100q", id)
}

// checkCwd returns why a session cannot work in a folder.
func checkCwd(cwd string) *rpc.Error { return checkFolder("cwd", "/cwd", cwd) }

// checkFolders returns why a session cannot work in the folders that a client hands in.
func checkFolders(params *acp.OpenParams) *rpc.Error {
	failure := checkCwd(params.Cwd)
	for i, folder := range params.AdditionalDirectories {
		if failure != nil {
			break
		}
		failure = checkFolder("a folder of additionalDirectories", fmt.Sprintf("/additionalDirectories/%d", i), folder)
	}
	return failure
}

func checkFolder(what, path, folder string) *rpc.Error {
	if _, _, err := fsutil.Folder(folder); err != nil {
		return rpc.Errorf(rpc.InvalidParams, "%s is %.200q: %v", what, folder, err).With("path", path)
	}
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return rpc.Errorf(rpc.InvalidParams, "%s %.200q is not a folder", what, folder).With("path", path)
	}
	return nil
}

func (a *Agent) newSession(r *peer.Request, params *acp.OpenParams) {
	params.SessionID = ""
	a.begin(r, params, false)
}

func (a *Agent) loadSession(r *peer.Request, params *acp.OpenParams) { a.goOn(r, params, true) }

func (a *Agent) resumeSession(r *peer.Request, params *acp.OpenParams) { a.goOn(r, params, false) }

// goOn opens a session that was kept, after one of its id that is being closed. replay has the
// client told all that was said.
func (a *Agent) goOn(r *peer.Request, params *acp.OpenParams, replay bool) {
	if params.SessionID == "" {
		r.Fail(rpc.Errorf(rpc.InvalidParams, "sessionId is missing").With("path", "/sessionId"))
		return
	}
	a.begin(r, params, replay)
}

// begin opens a session in the background. What the client asks of it meanwhile waits.
func (a *Agent) begin(r *peer.Request, params *acp.OpenParams, replay bool) {
	failure := checkFolders(params)
	servers, wrong := serversOf(params.MCPServers, params.Cwd)
	if failure == nil {
		failure = wrong
	}
	if failure != nil {
		r.Fail(failure)
		return
	}
	s := newSession(a, params.SessionID)
	if params.SessionID != "" && !a.sessions.add(s) {
		s.cancel(nil)
		r.Fail(rpc.Errorf(rpc.InvalidRequest, "session %s is open already on this connection", params.SessionID))
		return
	}
	a.work.Go(func() {
		stop := context.AfterFunc(r.Context(), func() { s.cancel(context.Cause(r.Context())) })
		err := s.open(params, servers)
		if !stop() && err == nil {
			err = context.Cause(r.Context())
			s.discard()
		}
		if err != nil {
			s.failed(err)
			r.Fail(openFailure(r.Context(), err))
			return
		}
		if params.SessionID == "" {
			a.sessions.add(s)
			r.Answer(&acp.NewResult{SessionID: s.id, Modes: s.choices.modeState(), ConfigOptions: s.choices.options()})
		} else {
			if replay {
				s.replay()
			}
			r.Answer(&acp.LoadResult{Modes: s.choices.modeState(), ConfigOptions: s.choices.options()})
		}
		s.announce()
		close(s.ready)          // what waits for the session comes after all that is told of it
		if a.ctx.Err() != nil { // closeAll may have missed it
			s.close("exit")
		}
	})
}

func openFailure(request context.Context, err error) *rpc.Error {
	if errors.Is(context.Cause(request), peer.ErrCancelled) {
		return rpc.Errorf(acp.RequestCancelled, "cancelled")
	}
	return failureOf(err)
}

// closeSession ends a session, and the turn that runs in it.
func (a *Agent) closeSession(r *peer.Request, params *acp.SessionParams) {
	s := a.sessions.find(params.SessionID)
	if s == nil {
		r.Fail(noSession(params.SessionID))
		return
	}
	done := s.close("closed")
	a.work.Go(func() {
		<-done
		r.Answer(acp.Empty{})
	})
}

// deleteSession removes what was kept of a session, which is closed before.
func (a *Agent) deleteSession(r *peer.Request, params *acp.SessionParams) {
	var done <-chan struct{}
	if s := a.sessions.find(params.SessionID); s != nil {
		done = s.close("closed")
	}
	a.work.Go(func() {
		if done != nil {
			<-done
		}
		state, err := places.StateDir()
		if err == nil {
			err = a.remove(places.Conversations(state), params.SessionID)
		}
		if err != nil {
			r.Fail(failureOf(err))
			return
		}
		r.Answer(acp.Empty{})
	})
}

// remove removes a session's file. One that is not there is removed already.
func (a *Agent) remove(folder, id string) error {
	if err := protocol.CheckSessionID(id); err != nil {
		return rpc.Errorf(rpc.InvalidParams, "sessionId %.100q: %v", id, err)
	}
	if _, err := store.HeaderOf(folder, id); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := store.Remove(folder, id); err != nil {
		return sessionscmd.Fault(err)
	}
	return nil
}

// closeAll ends all sessions side by side.
func (a *Agent) closeAll(reason string) {
	a.sessions.mu.Lock()
	var ending []<-chan struct{}
	var list []*session
	for _, s := range a.sessions.open {
		list = append(list, s)
	}
	a.sessions.mu.Unlock()
	for _, s := range list {
		ending = append(ending, s.close(reason))
	}
	for _, done := range ending {
		<-done
	}
}

// page is how many sessions are listed at once.
const page = 50

// listSessions lists the kept sessions of the project that a folder lies in, or of all projects,
// the one used last first. A cursor is the id of the last session of the page before.
func (a *Agent) listSessions(r *peer.Request, params *acp.ListParams) {
	if params.Cwd != nil {
		if failure := checkCwd(*params.Cwd); failure != nil {
			r.Fail(failure)
			return
		}
	}
	a.work.Go(func() {
		list, err := a.kept(r.Context(), params.Cwd)
		if err != nil {
			r.Fail(failureOf(err))
			return
		}
		at := 0
		if params.Cursor != nil {
			if at, err = strconv.Atoi(*params.Cursor); err != nil || at < 0 {
				r.Fail(rpc.Errorf(rpc.InvalidParams, "the cursor is none of hookd's").With("path", "/cursor"))
				return
			}
		}
		result := acp.ListResult{Sessions: list[min(at, len(list)):min(at+page, len(list))]}
		if at+page < len(list) {
			result.NextCursor = strconv.Itoa(at + page)
		}
		r.Answer(&result)
	})
}

// kept returns the sessions that can go on: those of the project that a folder lies in, those of a
// folder outside of a project, or all. One whose folder is not known is listed only for a
// folder outside of a project.
func (a *Agent) kept(ctx context.Context, cwd *string) ([]acp.SessionInfo, error) {
	state, err := places.StateDir()
	if err != nil {
		return nil, err
	}
	project := *a.options.Opener.Project
	if cwd != nil {
		project.Cwd = *cwd
	}
	list, err := sessionscmd.Here(ctx, &project, places.Conversations(state), cwd == nil)
	if err != nil {
		return nil, err
	}
	kept := []acp.SessionInfo{}
	for i := range list {
		info := &list[i]
		folder := cmp.Or(info.Project, info.Folder)
		if cwd != nil && info.Project == "" {
			folder = *cwd
		}
		if info.Damage != nil || folder == "" || info.Messages == 0 {
			continue
		}
		kept = append(kept, acp.SessionInfo{
			SessionID: info.ID, Cwd: folder, Title: titleOf(info.First), UpdatedAt: info.Last.UTC().Format(time.RFC3339),
		})
	}
	return kept, nil
}

// titleOf is what a session is called whose first prompt is known.
func titleOf(prompt string) string { return show.Line(show.Shorten(show.FirstLine(prompt), 80)) }
