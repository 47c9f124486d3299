package tool

import (
	"context"
	"crypto/sha256"
	"sync"
)

type agentKey struct{}

// WithAgent returns a context that names the agent whose call is at work.
func WithAgent(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, agentKey{}, id)
}

func agentOf(ctx context.Context) string {
	id, _ := ctx.Value(agentKey{}).(string)
	return id
}

// mostSeen bounds what is remembered. A file that was dropped counts as never read.
const mostSeen = 10_000

// seen is what each agent knows of files: their content when it last read or wrote
// them. A sub-agent is an agent of its own.
type seen struct {
	mu     sync.Mutex
	clock  int64
	states map[seenFile]seenState
}

type seenFile struct{ agent, path string }

type seenState struct {
	at  int64
	sum [sha256.Size]byte
}

// now is a moment, for [seen.note]: one before a file is opened to be read, one after
// it was replaced.
func (s *seen) now() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock++
	return s.clock
}

// note remembers a file's content as an agent knows it since a moment. What it knows
// since later counts.
func (s *seen) note(ctx context.Context, path string, at int64, content []byte) {
	sum := sha256.Sum256(content)
	file := seenFile{agentOf(ctx), path}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(content) > maxFile { // too large to be compared later
		delete(s.states, file)
		return
	}
	if s.states == nil {
		s.states = map[seenFile]seenState{}
	}
	known, is := s.states[file]
	if is && known.at > at {
		return
	}
	if !is && len(s.states) >= mostSeen {
		for some := range s.states {
			delete(s.states, some)
			break
		}
	}
	s.states[file] = seenState{at, sum}
}

// outdated reports whether an agent knows a file with another content than this.
func (s *seen) outdated(ctx context.Context, path string, content []byte) bool {
	s.mu.Lock()
	known, is := s.states[seenFile{agentOf(ctx), path}]
	s.mu.Unlock()
	return is && known.sum != sha256.Sum256(content)
}

// knows reports whether an agent has read or written a file.
func (s *seen) knows(ctx context.Context, path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, is := s.states[seenFile{agentOf(ctx), path}]
	return is
}
