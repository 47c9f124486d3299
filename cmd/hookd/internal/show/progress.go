package show

import (
	"fmt"
	"sync"
	"time"
)

// nameAfter is how long a hook may take before its name is shown.
const nameAfter = 2 * time.Second

// spinAfter keeps quick work from flickering.
const spinAfter = 300 * time.Millisecond

var frames = []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// Progress is a line on a terminal that says that something is still at work,
// and after two seconds what. It is wiped before anything else is printed. On
// anything but a terminal it does nothing; on one that can only print lines, it is a
// line for each that takes long.
type Progress struct {
	p     *Printer
	stop  chan struct{}
	once  sync.Once
	ended sync.WaitGroup

	mu      sync.Mutex
	working map[string]time.Time // by name, since when
	shown   bool
	told    map[string]time.Time // on a dumb terminal: those whose line was printed
}

// StartProgress begins to watch. Stop must be called.
func StartProgress(p *Printer) *Progress {
	g := &Progress{p: p, stop: make(chan struct{}), working: map[string]time.Time{}, told: map[string]time.Time{}}
	if p.Width == 0 {
		return g
	}
	g.ended.Go(g.spin)
	return g
}

// Begin says that the named hook has started; End that it ended.
func (g *Progress) Begin(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.working[name] = time.Now()
}

// End says that the named hook has ended.
func (g *Progress) End(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.working, name)
	g.wipe()
}

// Slowest returns the hook that is at work longest, "" if none is.
func (g *Progress) Slowest() (name string, since time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for n, began := range g.working {
		if name == "" || began.Before(since) || began.Equal(since) && n < name {
			name, since = n, began
		}
	}
	return name, since
}

// Aside runs print while the line is wiped, so that the two do not mix.
func (g *Progress) Aside(print func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.wipe()
	print()
}

// Stop wipes the line and ends the watching. Stopping twice is no error.
func (g *Progress) Stop() {
	g.once.Do(func() { close(g.stop) })
	g.ended.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.wipe()
}

func (g *Progress) spin() {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for frame := 0; ; frame++ {
		select {
		case <-g.stop:
			return
		case now := <-tick.C:
			g.draw(frames[frame%len(frames)], now)
		}
	}
}

func (g *Progress) draw(frame string, now time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	oldest, name := time.Duration(0), ""
	for n, since := range g.working {
		if d := now.Sub(since); d > oldest || name == "" {
			oldest, name = d, n
		}
	}
	if name == "" || oldest < spinAfter {
		return
	}
	text := "hooks at work"
	if g.p.Dumb {
		if oldest >= nameAfter && g.told[name] != g.working[name] {
			g.told[name] = g.working[name]
			g.p.Print("waiting for %s\n", Line(name))
		}
		return
	}
	if oldest >= nameAfter {
		text = fmt.Sprintf("waiting for %s, %ds", Line(name), int(oldest.Seconds()))
	}
	g.p.Print("\r\x1b[K%s %s", frame, g.p.In(Quiet, Shorten(text, max(g.p.Width-4, 10))))
	g.shown = true
}

func (g *Progress) wipe() {
	if g.shown {
		g.p.Print("\r\x1b[K")
		g.shown = false
	}
}
