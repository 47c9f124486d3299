//go:build unix

package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// burst does a piece of work n times and says how long each time took.
type burst func(ctx context.Context, n int) ([]time.Duration, error)

// player is one way of doing a piece of work.
type player struct {
	name  string
	burst burst
	// against is the player that this one is compared with, "" = the first.
	against string
	// most is how often the work may be done in one burst, 0 = any number.
	most int
}

// contest measures players side by side. The first one is what the others are
// compared with.
type contest struct {
	name    string // such as plain/c/1KiB
	about   string // what is done, in words
	players []player
	time    time.Duration // how much time the contest is worth, 0 = defaultTime
	turns   int           // bursts of each player in a round, 0 = as the pace says
	close   func() error
}

// standing is how one player came out.
type standing struct {
	player  string
	medians []time.Duration // of each round
	tails   []time.Duration // p99 of each round
	ratios  []float64       // of each round, to another player in it
	against string          // which one, "" = the first
	median  time.Duration   // of the rounds' medians
	p99     time.Duration   // of all samples
	ratio   float64         // median of ratios, 0 for the first player
	samples int
}

// result is a contest that was held.
type result struct {
	contest   string
	about     string
	standings []standing
	figures   []figure
	skipped   string // why it was not held
}

// figure is what is no time: bytes, or processes that survived.
type figure struct {
	name  string
	unit  string // as a benchmark names it
	value float64
}

// standingOf is how samples came out that race with nothing.
func standingOf(name string, samples []time.Duration) standing {
	m, tail := median(samples), quantile(samples, 0.99)
	return standing{player: name, medians: []time.Duration{m}, tails: []time.Duration{tail}, median: m, p99: tail, samples: len(samples)}
}

// pace says how long everything takes.
type pace struct {
	rounds int           // at least 3, of which each has a ratio of its own
	turns  int           // bursts of each player in a round
	scale  float64       // of the time that each contest is worth
	most   int           // samples in one burst
	floor  time.Duration // the least time for a contest
}

const defaultTime = 4 * time.Second

// hold holds a contest: in each round the players take turns, a burst each, in
// an order that turns round, so that what else the machine does meets them all.
func (c *contest) hold(ctx context.Context, p pace) (*result, error) {
	if c.turns > 0 {
		p.turns = c.turns
	}
	sizes, err := c.warm(ctx, p)
	if err != nil {
		return nil, err
	}
	all := make([][]time.Duration, len(c.players))
	r := &result{contest: c.name, about: c.about}
	for _, player := range c.players {
		r.standings = append(r.standings, standing{player: player.name, against: player.against})
	}
	for range p.rounds {
		round := make([][]time.Duration, len(c.players))
		for turn := range p.turns {
			for k := range c.players {
				i := (k + turn) % len(c.players)
				took, err := c.players[i].burst(ctx, sizes[i])
				if err != nil {
					return nil, fmt.Errorf("%s, %s: %w", c.name, c.players[i].name, err)
				}
				round[i] = append(round[i], took...)
			}
		}
		for i := range round {
			s := &r.standings[i]
			m, base := median(round[i]), median(round[c.index(s.against)])
			s.medians, s.tails = append(s.medians, m), append(s.tails, quantile(round[i], 0.99))
			if i > 0 {
				s.ratios = append(s.ratios, float64(m)/float64(max(1, base)))
			}
			all[i] = append(all[i], round[i]...)
		}
	}
	for i := range r.standings {
		s := &r.standings[i]
		s.median, s.ratio = median(s.medians), median(s.ratios)
		s.p99, s.samples = quantile(all[i], 0.99), len(all[i])
	}
	return r, nil
}

// index is the place of a player, the first for "".
func (c *contest) index(name string) int {
	return max(0, slices.IndexFunc(c.players, func(p player) bool { return p.name == name }))
}

// warm lets every player begin once, unmeasured, and gives each as many samples
// in a burst as fit into its share of the time.
func (c *contest) warm(ctx context.Context, p pace) ([]int, error) {
	total := c.time
	if total == 0 {
		total = defaultTime
	}
	total = max(p.floor, time.Duration(float64(total)*p.scale))
	share := total / time.Duration(p.rounds*p.turns*len(c.players))
	sizes := make([]int, len(c.players))
	tries := 2 // the first one may still be cold
	if c.turns == 1 {
		tries = 1 // one that takes long
	}
	for i, player := range c.players {
		for range tries {
			began := time.Now()
			if _, err := player.burst(ctx, 1); err != nil {
				return nil, fmt.Errorf("%s, %s: %w", c.name, player.name, err)
			}
			sizes[i] = int(share / max(1, time.Since(began)))
		}
		most := p.most
		if player.most > 0 {
			most = min(most, player.most)
		}
		sizes[i] = min(max(1, sizes[i]), most)
	}
	return sizes, nil
}

// quantile is the smallest sample that at least a part q of all do not exceed.
func quantile[T ~int64 | ~float64](samples []T, q float64) T {
	if len(samples) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(samples))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

func median[T ~int64 | ~float64](samples []T) T { return quantile(samples, 0.5) }

// each is the burst of work that is done one time after the other.
func each(work func(ctx context.Context) error) burst {
	return func(ctx context.Context, n int) ([]time.Duration, error) {
		took := make([]time.Duration, 0, n)
		for range n {
			began := time.Now()
			if err := work(ctx); err != nil {
				return nil, err
			}
			took = append(took, time.Since(began))
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
		}
		return took, nil
	}
}

// together is the burst of work that is done by several at once.
func together(inFlight int, work func(ctx context.Context, worker int) error) burst {
	return func(ctx context.Context, n int) ([]time.Duration, error) {
		n = max(1, n/inFlight)
		errs := make(chan error, inFlight)
		began := time.Now()
		for worker := range inFlight {
			go func() {
				for range n {
					if err := work(ctx, worker); err != nil {
						errs <- err
						return
					}
				}
				errs <- nil
			}()
		}
		var failed error
		for range inFlight {
			if err := <-errs; err != nil {
				failed = err
			}
		}
		if failed == nil && ctx.Err() != nil {
			failed = context.Cause(ctx)
		}
		return spread(time.Since(began), n*inFlight), failed
	}
}

// per is a burst whose samples each hold n pieces of work.
func per(n int, work burst) burst {
	return func(ctx context.Context, count int) ([]time.Duration, error) {
		took, err := work(ctx, count)
		for i := range took {
			took[i] /= time.Duration(n)
		}
		return took, err
	}
}
