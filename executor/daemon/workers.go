package daemon

import "sync"

// workers are the goroutines of one connection. One of them reads at any time. When
// it has read a call that may run at once, it runs and answers that call itself, and
// another worker reads on: handing over the reading takes as long as handing over the
// call would, but nobody waits for it. Workers wait for the next time with the stacks
// that they have grown.
type workers struct {
	conn *conn
	end  chan error // why nothing is read any more

	mu    sync.Mutex
	idle  []chan *request // of workers that wait for work; nil is the work of reading
	ended bool
}

// mostIdle is how many workers wait for work.
const mostIdle = 4

func (w *workers) init(c *conn) {
	w.conn = c
	w.end = make(chan error, 1)
}

// serve reads and runs calls until the connection has ended, and returns why.
// Calls may still run then.
func (w *workers) serve() error {
	w.hand(nil)
	err := <-w.end
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	for _, worker := range w.idle {
		close(worker)
	}
	w.idle = nil
	return err
}

// hand gives a call to a worker; nil has it read. It never waits.
func (w *workers) hand(r *request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(w.idle)
	if n == 0 {
		go w.work(r)
		return
	}
	worker := w.idle[n-1]
	w.idle = w.idle[:n-1]
	worker <- r
}

func (w *workers) work(r *request) {
	self := make(chan *request, 1)
	for more := true; more; r, more = w.wait(self) {
		if r == nil {
			var err error
			if r, err = w.conn.next(); err != nil {
				w.end <- err
				return
			}
			w.hand(nil)
		}
		w.conn.server.schedule.execute(r)
	}
}

// wait waits for the next work. It reports false when there will be none.
func (w *workers) wait(self chan *request) (r *request, more bool) {
	w.mu.Lock()
	if w.ended || len(w.idle) == mostIdle {
		w.mu.Unlock()
		return nil, false
	}
	w.idle = append(w.idle, self)
	w.mu.Unlock()
	r, more = <-self
	return r, more
}
