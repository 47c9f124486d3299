package daemon

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"fmt"
	"runtime/debug"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc"
)

// method is one row of the table of methods.
type method struct {
	stdio   bool // only on the connection of the program that started the daemon
	anytime bool // also while the daemon is draining

	// plan reads the params. It runs while the next line waits to be read, so it
	// must be quick: what takes time goes to the call's run. A result that is
	// there at once is returned.
	plan func(c *conn, params protocol.RawMessage, r *request) (protocol.RawMessage, *rpc.Error)
}

var methods map[string]method

func init() {
	methods = map[string]method{
		"initialize":      {plan: planInitialize},
		"session/open":    {plan: planOpen},
		"session/close":   {plan: planClose},
		"event/fire":      {plan: planFire},
		"hooks/list":      {plan: planList},
		"hooks/reload":    {plan: planReload},
		"ping":            {plan: planPing, anytime: true},
		"shutdown":        {plan: planShutdown, stdio: true, anytime: true},
		"$/cancelRequest": {plan: planCancel, anytime: true},
	}
}

// plan finds the method and lets it read its params. A result that is ready at
// once is returned; a call with neither that nor an error has to be run.
func (c *conn) plan(m *rpc.Message, r *request) (now protocol.RawMessage, failure *rpc.Error) {
	defer func() {
		if p := recover(); p != nil {
			c.server.log.Error("panic in a handler", "method", m.Method, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			now, failure = nil, rpc.Errorf(rpc.InternalError, "internal error")
		}
	}()
	method, ok := methods[m.Method]
	switch {
	case !ok || method.stdio && !c.stdio:
		return nil, rpc.Errorf(rpc.MethodNotFound, "unknown method %q", m.Method)
	case c.server.stop.Err() != nil && !method.anytime:
		return nil, rpc.Errorf(rpc.ShuttingDown, "the daemon is shutting down")
	}
	return method.plan(c, m.Params, r)
}

// planShutdown begins the end of the daemon. Its response says that all is over.
func planShutdown(c *conn, _ protocol.RawMessage, r *request) (protocol.RawMessage, *rpc.Error) {
	if !c.server.shutdown.CompareAndSwap(nil, r) {
		return nil, rpc.Errorf(rpc.InvalidRequest, "shutdown was called before")
	}
	c.server.stop.enter(errShutdown)
	return nil, nil
}

func planPing(*conn, protocol.RawMessage, *request) (protocol.RawMessage, *rpc.Error) {
	return empty, nil
}

func planCancel(c *conn, params protocol.RawMessage, _ *request) (protocol.RawMessage, *rpc.Error) {
	var p struct {
		ID protocol.RawMessage `json:"id"`
	}
	if failure := read(params, &p); failure != nil {
		return nil, failure
	}
	target := rpc.Message{ID: p.ID}
	if kind := jsonspan.Kind(p.ID); kind != '"' && kind != '0' {
		return nil, badParam("/id", "/id: must be the id of a request")
	}
	c.server.schedule.cancel(c, target.Key())
	return protocol.RawMessage("null"), nil
}

func planInitialize(c *conn, params protocol.RawMessage, r *request) (protocol.RawMessage, *rpc.Error) {
	var p struct {
		Version int `json:"version"`
		Client  struct {
			Name    string `json:"name"`
			Version string `json:"version"`
		} `json:"client"`
		Capabilities Capabilities `json:"capabilities"`
		Project      string       `json:"project"`
		Cwd          string       `json:"cwd"`
	}
	if failure := read(params, &p); failure != nil {
		return nil, failure
	}
	switch {
	case p.Version < 1:
		return nil, badParam("/version", "/version: must be the highest protocol version that the client speaks, 1 or more")
	case c.peer.Load().known:
		return nil, rpc.Errorf(rpc.InvalidRequest, "initialize was called before")
	}
	for i, n := range p.Capabilities.Notifications {
		if !offered[n] {
			return nil, badParam("/capabilities/notifications/"+itoa(i), "there is no notification "+quote(n))
		}
	}
	// From here on, for the very next line too.
	c.peer.Store(&peer{name: p.Client.Name, can: p.Capabilities, known: true})
	project, cwd := p.Project, p.Cwd
	if project == "" && cwd == "" {
		project, cwd = c.server.opt.Project, c.server.opt.Cwd
	}
	r.run = func(ctx context.Context, _ *request) (protocol.RawMessage, *rpc.Error) {
		result := initialized{
			Version:      protocol.Version,
			Server:       program{"hookd", c.server.opt.Version},
			Capabilities: ours,
			Limits:       limits{c.server.opt.Limits.Line, c.server.opt.Limits.Pending},
		}
		if project != "" || cwd != "" {
			listing, failure := c.listing(ctx, project, cwd)
			if failure != nil {
				return nil, failure
			}
			result.Hooks = listing.Hooks
		}
		return encode(result)
	}
	return nil, nil
}

// initialized is the result of initialize.
type initialized struct {
	Version      int          `json:"version"`
	Server       program      `json:"server"`
	Capabilities Capabilities `json:"capabilities"`
	Limits       limits       `json:"limits"`
	Hooks        []Listed     `json:"hooks"`
}

type program struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type limits struct {
	Line    int64 `json:"line"`    // bytes
	Pending int64 `json:"pending"` // bytes of requests and responses of a connection; at that limit nothing is read
}

func planOpen(c *conn, params protocol.RawMessage, r *request) (protocol.RawMessage, *rpc.Error) {
	var p openParams
	if failure := read(params, &p); failure != nil {
		return nil, failure
	}
	if failure := checkPlace(p.Project, p.Cwd); failure != nil {
		return nil, failure
	}
	if p.ID == "" {
		p.ID = protocol.NewID()
	} else if failure := checkID(p.ID); failure != nil {
		return nil, failure
	}
	if p.Host == "" {
		p.Host = c.peer.Load().name
	}
	session := &session{openParams: p, key: rand.Text(), owner: c, tools: map[string]bool{}}
	r.session, r.opens = session, true
	r.run = func(ctx context.Context, _ *request) (protocol.RawMessage, *rpc.Error) {
		project, failure := c.server.projects.use(ctx, c, p.Project, p.Cwd)
		if failure != nil {
			c.server.schedule.failed(session)
			return nil, failure
		}
		session.project = project
		return encode(struct {
			ID         string `json:"id"`
			Key        string `json:"key"`
			Generation int64  `json:"generation"`
		}{session.ID, session.key, project.engine.List().Generation})
	}
	return nil, nil
}

// checkPlace wants absolute paths: the daemon's own working directory says
// nothing about its clients'.
func checkPlace(project, cwd string) *rpc.Error {
	switch {
	case project == "" && cwd == "":
		return badParam("/project", "/project: project or cwd must be given")
	case project != "" && !absolute(project):
		return badParam("/project", "/project: must be an absolute path")
	case cwd != "" && !absolute(cwd):
		return badParam("/cwd", "/cwd: must be an absolute path")
	}
	return nil
}

func checkID(id string) *rpc.Error {
	if err := protocol.CheckSessionID(id); err != nil {
		return badParam("/id", "/id: "+err.Error())
	}
	return nil
}

func planClose(c *conn, params protocol.RawMessage, r *request) (protocol.RawMessage, *rpc.Error) {
	var p struct {
		ID  string `json:"id"`
		Key string `json:"key"`
	}
	if failure := read(params, &p); failure != nil {
		return nil, failure
	}
	session, failure := c.server.schedule.lookup(c, p.ID, p.Key)
	if failure != nil {
		return nil, failure
	}
	r.session, r.closes = session, true
	r.run = func(context.Context, *request) (protocol.RawMessage, *rpc.Error) { return empty, nil }
	return nil, nil
}

func sameSecret(given, want string) bool {
	return subtle.ConstantTimeCompare([]byte(given), []byte(want)) == 1
}

// place says which project's hooks a method is about.
type place struct {
	Project string `json:"project"`
	Cwd     string `json:"cwd"`
}

func (c *conn) place(params protocol.RawMessage) (p place, failure *rpc.Error) {
	if failure = read(params, &p); failure != nil {
		return p, failure
	}
	if p.Project == "" && p.Cwd == "" {
		p.Project, p.Cwd = c.server.opt.Project, c.server.opt.Cwd
	}
	return p, checkPlace(p.Project, p.Cwd)
}

func planList(c *conn, params protocol.RawMessage, r *request) (protocol.RawMessage, *rpc.Error) {
	p, failure := c.place(params)
	r.run = func(ctx context.Context, _ *request) (protocol.RawMessage, *rpc.Error) {
		listing, failure := c.listing(ctx, p.Project, p.Cwd)
		if failure != nil {
			return nil, failure
		}
		return encode(listing)
	}
	return nil, failure
}

func (c *conn) listing(ctx context.Context, project, cwd string) (Listing, *rpc.Error) {
	p, failure := c.server.projects.use(ctx, c, project, cwd)
	if failure != nil {
		return Listing{}, failure
	}
	defer c.server.projects.release(p)
	return p.engine.List().filled(), nil
}

func planReload(c *conn, params protocol.RawMessage, r *request) (protocol.RawMessage, *rpc.Error) {
	p, failure := c.place(params)
	r.run = func(ctx context.Context, _ *request) (protocol.RawMessage, *rpc.Error) {
		project, failure := c.server.projects.use(ctx, c, p.Project, p.Cwd)
		if failure != nil {
			return nil, failure
		}
		defer c.server.projects.release(project)
		if err := project.engine.Reload(ctx); err != nil {
			if ctx.Err() != nil {
				return nil, cancelled(ctx)
			}
			return nil, rpc.Errorf(rpc.InternalError, "reload: %v", err)
		}
		return encode(project.engine.List().filled())
	}
	return nil, failure
}
