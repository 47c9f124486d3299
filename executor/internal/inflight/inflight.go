package inflight

import "sync"

// Group counts what is under way. Unlike a sync.WaitGroup, it may be waited for
// while others still begin new work. The zero value is ready to use.
type Group struct {
	mu      sync.Mutex
	running int
	idle    chan struct{} // closed when running falls to 0; nil while nobody waits
}

// Go runs f in a goroutine of its own.
func (g *Group) Go(f func()) {
	g.Begin()
	go func() {
		defer g.Done()
		f()
	}()
}

// Begin counts what the caller does itself until it calls Done.
func (g *Group) Begin() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running++
}

// Done ends what Begin began.
func (g *Group) Done() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running--
	if g.running == 0 && g.idle != nil {
		close(g.idle)
		g.idle = nil
	}
}

// Idle returns a channel that is closed when nothing is under way.
func (g *Group) Idle() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running == 0 {
		idle := make(chan struct{})
		close(idle)
		return idle
	}
	if g.idle == nil {
		g.idle = make(chan struct{})
	}
	return g.idle
}
