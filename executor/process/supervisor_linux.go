package process

import (
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// supervisor is what a process does for its programs when it is there for nothing else.
// A nil one does nothing.
type supervisor struct {
	stops    *wakeup
	guardian atomic.Pointer[guardian]
	children chan os.Signal // of children that ended or were stopped; nil in a short life
	quit     chan struct{}
	done     sync.WaitGroup
}

func newSupervisor(o *Options) *supervisor {
	if !o.OwnsAllChildren {
		return nil
	}
	ourChildren.claimOrphans()
	s := &supervisor{stops: newWakeup(!o.LongLived), quit: make(chan struct{})}
	if o.LongLived {
		s.reapOrphans()
	}
	return s
}

// reapPause is how long children that end one after the other are gathered.
const reapPause = 50 * time.Millisecond

// reapOrphans begins to reap orphans whenever they end, and to look after the guardian. A
// short-lived process can do without: init adopts its orphans in the end.
func (s *supervisor) reapOrphans() {
	s.children = make(chan os.Signal, 1)
	signal.Notify(s.children, syscall.SIGCHLD)
	s.done.Go(func() {
		for {
			ourChildren.orphans()
			s.guardian.Load().endIfStopped()
			select {
			case <-s.children:
			case <-s.quit:
				return
			}
			select {
			case <-time.After(reapPause):
			case <-s.quit:
				return
			}
		}
	})
}

func (s *supervisor) watches(g *guardian) {
	if s != nil {
		s.guardian.Store(g)
	}
}

// began says that a program runs, whose answer is due at limit if that is not zero.
func (s *supervisor) began(limit time.Time) {
	if s != nil {
		s.stops.began(limit)
	}
}

func (s *supervisor) ended() {
	if s != nil {
		s.stops.ended()
	}
}

func (s *supervisor) close() {
	if s == nil {
		return
	}
	if s.children != nil {
		signal.Stop(s.children)
	}
	close(s.quit)
	s.done.Wait()
	s.stops.close()
}
