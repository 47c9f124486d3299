package proxied

import "sync"

// Background is work that nobody waits for before the end of the connection. The zero value has
// none.
type Background struct {
	mu    sync.Mutex
	over  bool
	works sync.WaitGroup
}

// Go does work on a goroutine of its own. What comes after [Background.Wait], from messages that
// are still on their way, is done at once.
func (b *Background) Go(work func()) {
	b.mu.Lock()
	over := b.over
	if !over {
		b.works.Go(work)
	}
	b.mu.Unlock()
	if over {
		work()
	}
}

// Wait waits until all work is done.
func (b *Background) Wait() {
	b.mu.Lock()
	b.over = true
	b.mu.Unlock()
	b.works.Wait()
}
