package executor

import "sync"

// work counts what an executor has in hand. Unlike a sync.WaitGroup it may be
// waited for while events still begin new ones.
type work struct {
	mu      sync.Mutex
	running int
	idle    chan struct{} // closed when running falls to 0; nil while nobody waits
}

// Go runs f in a goroutine of its own.
func (w *work) Go(f func()) {
	w.begin()
	go func() {
		defer w.done()
		f()
	}()
}

// begin counts what the caller does itself until it calls done.
func (w *work) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running++
}

func (w *work) done() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running--
	if w.running == 0 && w.idle != nil {
		close(w.idle)
		w.idle = nil
	}
}

// Idle returns a channel that is closed when nothing runs.
func (w *work) Idle() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running == 0 {
		idle := make(chan struct{})
		close(idle)
		return idle
	}
	if w.idle == nil {
		w.idle = make(chan struct{})
	}
	return w.idle
}
