package process

import (
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// sole is what a process does for its programs when it is there for nothing else.
// A nil one does nothing.
type sole struct {
	awake    *awake
	guardian atomic.Pointer[guardian]
	children chan os.Signal // of children that ended or were stopped; nil in a short life
	quit     chan struct{}
	done     sync.WaitGroup
}

func newSole(o *Options) *sole {
	if !o.Sole {
		return nil
	}
	family.alone()
	s := &sole{awake: newAwake(!o.LongLived), quit: make(chan struct{})}
	if o.LongLived {
		s.tend()
	}
	return s
}

// tendPause is how long children that end one after the other are gathered.
const tendPause = 50 * time.Millisecond

// tend begins to reap orphans whenever they end, and to look after the guardian. A
// short life can do without: its orphans go to somebody else in the end.
func (s *sole) tend() {
	s.children = make(chan os.Signal, 1)
	signal.Notify(s.children, syscall.SIGCHLD)
	s.done.Go(func() {
		for {
			family.orphans()
			s.guardian.Load().revive()
			select {
			case <-s.children:
			case <-s.quit:
				return
			}
			select {
			case <-time.After(tendPause):
			case <-s.quit:
				return
			}
		}
	})
}

func (s *sole) watches(g *guardian) {
	if s != nil {
		s.guardian.Store(g)
	}
}

// began says that a program runs, whose answer is due at limit if that is not zero.
func (s *sole) began(limit time.Time) {
	if s != nil {
		s.awake.began(limit)
	}
}

func (s *sole) ended() {
	if s != nil {
		s.awake.ended()
	}
}

func (s *sole) close() {
	if s == nil {
		return
	}
	if s.children != nil {
		signal.Stop(s.children)
	}
	close(s.quit)
	s.done.Wait()
	s.awake.close()
}
