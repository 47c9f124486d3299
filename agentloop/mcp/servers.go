package mcp

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/protocol/toolname"
)

// Servers are the MCP servers of a run. They are a [tool.Source].
type Servers struct {
	supervisors []*supervisor
	began       time.Time
	end         context.CancelCauseFunc
	running     sync.WaitGroup
	notifying   sync.Mutex
}

// Connect starts servers in the background and returns at once. They end with
// ctx or by Close, which the caller calls in any case.
func Connect(ctx context.Context, servers []Server, options Options) *Servers {
	options.complete()
	s := &Servers{began: time.Now()}
	ctx, s.end = context.WithCancelCause(ctx)
	tell := options.Notify
	options.Notify = func(n Notice) {
		s.notifying.Lock()
		defer s.notifying.Unlock()
		if ctx.Err() == nil || n.atEnd {
			tell(n)
		}
	}
	servers = slices.SortedFunc(slices.Values(servers), func(a, b Server) int { return cmp.Compare(a.Name, b.Name) })
	owner := map[string]string{}
	for _, server := range servers {
		prefix := toolname.PrefixOf(server.Name)
		if other, taken := owner[prefix]; taken {
			s.running.Go(func() {
				options.Notify(Notice{Server: server.Name, Text: "is not started: its tools would have the names of those of " + other, Remedy: "give one of them another name"})
			})
			continue
		}
		owner[prefix] = server.Name
		h := &supervisor{server: server, options: &options, prefix: prefix, notify: options.Notify, started: make(chan struct{}), why: "it is still starting"}
		s.supervisors = append(s.supervisors, h)
		s.running.Go(func() { h.run(ctx) })
	}
	return s
}

// Tools implements [tool.Source]: the tools of the servers that are ready, by
// server. Those of one that is being started again are among them, and say so
// when they are called.
func (s *Servers) Tools() []tool.Tool {
	var list []tool.Tool
	for _, h := range s.supervisors {
		list = append(list, h.toolList()...)
	}
	return list
}

// WaitStarted waits until every server is ready or has failed once, but not beyond
// the limit, which counts from Connect, nor beyond the end of ctx. It returns
// the names of those that are still starting.
func (s *Servers) WaitStarted(ctx context.Context, limit time.Duration) (late []string) {
	waiting, stop := context.WithDeadline(ctx, s.began.Add(limit))
	defer stop()
	for _, h := range s.supervisors {
		select {
		case <-h.started:
			continue
		default:
		}
		select {
		case <-h.started:
		case <-waiting.Done():
			late = append(late, h.server.Name)
		}
	}
	return late
}

// Close ends all servers and waits until nothing of them is left. Calls in
// flight end with an error.
func (s *Servers) Close() {
	s.end(errClosed)
	s.running.Wait()
}
