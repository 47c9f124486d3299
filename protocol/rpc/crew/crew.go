package crew

import "sync"

// Crew is some goroutines. The zero value has none yet.
type Crew struct {
	mu    sync.Mutex
	idle  []chan func()
	ended bool
}

// mostIdle is how many goroutines wait for work.
const mostIdle = 8

// Go runs f in a goroutine. It never waits.
func (c *Crew) Go(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.idle)
	if n == 0 {
		go c.work(f)
		return
	}
	member := c.idle[n-1] // the one that has worked last
	c.idle = c.idle[:n-1]
	member <- f
}

// End ends the goroutines that wait, and others when they have ended their work.
func (c *Crew) End() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	for _, member := range c.idle {
		close(member)
	}
	c.idle = nil
}

func (c *Crew) work(f func()) {
	self := make(chan func(), 1)
	for f != nil {
		f()
		f = c.wait(self)
	}
}

// wait waits for the next work, nil if there will be none.
func (c *Crew) wait(self chan func()) func() {
	c.mu.Lock()
	if c.ended || len(c.idle) == mostIdle {
		c.mu.Unlock()
		return nil
	}
	c.idle = append(c.idle, self)
	c.mu.Unlock()
	return <-self
}
