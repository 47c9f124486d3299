package tool

import (
	"context"
	"crypto/sha256"
	"sync"
)

// maxKnown bounds what is remembered. A file that was dropped counts as never read.
const maxKnown = 10_000

// knownContent remembers what each agent knows of files: their content when it last
// read or wrote them. A sub-agent is an agent of its own.
type knownContent struct {
	mu     sync.Mutex
	clock  int64
	states map[agentFile]contentState
}

type agentFile struct{ agent, path string }

type contentState struct {
	at  int64
	sum [sha256.Size]byte
}

// now returns a moment for [knownContent.set]: one before a file is opened to be read,
// or one after it was replaced.
func (k *knownContent) now() int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.clock++
	return k.clock
}

// set remembers a file's content as an agent knows it since a moment. What it knows
// since a later one counts.
func (k *knownContent) set(ctx context.Context, path string, at int64, content []byte) {
	sum := sha256.Sum256(content)
	file := agentFile{AgentID(ctx), path}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(content) > maxFile { // too large to be compared later
		delete(k.states, file)
		return
	}
	if k.states == nil {
		k.states = map[agentFile]contentState{}
	}
	known, is := k.states[file]
	if is && known.at > at {
		return
	}
	if !is && len(k.states) >= maxKnown {
		for some := range k.states {
			delete(k.states, some)
			break
		}
	}
	k.states[file] = contentState{at, sum}
}

// outdated reports whether an agent knows a file with another content than this.
func (k *knownContent) outdated(ctx context.Context, path string, content []byte) bool {
	k.mu.Lock()
	known, is := k.states[agentFile{AgentID(ctx), path}]
	k.mu.Unlock()
	return is && known.sum != sha256.Sum256(content)
}

// has reports whether an agent has read or written a file.
func (k *knownContent) has(ctx context.Context, path string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, is := k.states[agentFile{AgentID(ctx), path}]
	return is
}
