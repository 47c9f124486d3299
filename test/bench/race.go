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
	// against is the player that this one is compared with, "" for the first.
	against string
	// most is how often the work may be done in one burst, 0 for any number.
	most int
}

// race measures players side by side.
type race struct {
	players []player
	figures []figure      // what was measured without a race
	after   func() figure // what else was measured during it, if not nil
	time    time.Duration // how much time the race is worth, 0 for usualTime
	turns   int           // bursts of each player in a round, 0 for what the pace says
}

// figure is what is not compared with a player.
type figure struct {
	name, unit string // the unit as a benchmark names it
	value      float64
}

// standing is how one player came out.
type standing struct {
	player, against string
	medians         []time.Duration // of each round
	tails           []time.Duration // p99 of each round
	ratios          []float64       // of each round, to the player it is compared with
	median          time.Duration   // of the rounds' medians
	p99             time.Duration   // of all samples
	ratio           float64         // median of ratios, 0 for the first player
	samples         int
}

// result is a row that was measured.
type result struct {
	row       row
	standings []standing
	figures   []figure
	skipped   string // why it was not measured
}

// pace says how long everything takes.
type pace struct {
	rounds int     // at least 3, of which each has a ratio of its own
	turns  int     // bursts of each player in a round
	scale  float64 // of the time that each race is worth
	most   int     // samples in one burst
}

var paces = map[string]pace{
	"full":  {rounds: 7, turns: 4, scale: 1, most: 400},
	"quick": {rounds: 3, turns: 3, scale: 0.15, most: 100},
	"smoke": {rounds: 1, turns: 1, scale: 0, most: 1},
}

const usualTime = 6 * time.Second

// run has the players take turns, a burst each, in an order that turns round, so that
// what else the machine does meets them all.
func (c *race) run(ctx context.Context, p pace) (*result, error) {
	if c.turns > 0 {
		p.turns = c.turns
	}
	r := &result{figures: c.figures, standings: make([]standing, len(c.players))}
	sizes, err := c.sizes(ctx, p)
	if err != nil {
		return nil, err
	}
	all := make([][]time.Duration, len(c.players))
	for range p.rounds {
		round := make([][]time.Duration, len(c.players))
		for turn := range p.turns {
			for k := range c.players {
				i := (k + turn) % len(c.players)
				took, err := c.players[i].burst(ctx, sizes[i])
				if err != nil {
					return nil, fmt.Errorf("%s: %w", c.players[i].name, err)
				}
				round[i] = append(round[i], took...)
			}
		}
		for i := range round {
			r.standings[i].add(round[i], median(round[c.index(c.players[i].against)]))
			all[i] = append(all[i], round[i]...)
		}
	}
	if c.after != nil {
		r.figures = append(r.figures, c.after())
	}
	for i := range r.standings {
		s := &r.standings[i]
		s.player, s.against = c.players[i].name, c.players[c.index(c.players[i].against)].name
		s.median, s.p99, s.samples = median(s.medians), quantile(all[i], 0.99), len(all[i])
		if s.ratio = median(s.ratios); i == 0 {
			s.ratio, s.ratios = 0, nil
		}
	}
	return r, nil
}

func (s *standing) add(round []time.Duration, base time.Duration) {
	m := median(round)
	s.medians, s.tails = append(s.medians, m), append(s.tails, quantile(round, 0.99))
	s.ratios = append(s.ratios, float64(m)/float64(max(1, base)))
}

// index is the place of a player, the first for "".
func (c *race) index(name string) int {
	return max(0, slices.IndexFunc(c.players, func(p player) bool { return p.name == name }))
}

// sizes lets every player begin once, unmeasured, and gives each as many samples in a
// burst as fit into its share of the time. What counts is how long a burst takes, since
// one that pauses after each sample takes much longer than its samples.
func (c *race) sizes(ctx context.Context, p pace) ([]int, error) {
	total := c.time
	if total == 0 {
		total = usualTime
	}
	share := time.Duration(float64(total)*p.scale) / time.Duration(max(1, p.rounds*p.turns*len(c.players)))
	sizes := make([]int, len(c.players))
	tries := 3 // the first one may still be cold
	if c.turns == 1 {
		tries = 1 // one that takes long
	}
	for i, player := range c.players {
		for range tries {
			began := time.Now()
			if _, err := player.burst(ctx, 1); err != nil {
				return nil, fmt.Errorf("%s: %w", player.name, err)
			}
			sizes[i] = max(sizes[i], int(share/max(1, time.Since(began))))
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

// together is the burst of work that several do at once. Only its whole time means
// something.
func together(inFlight int, work func(ctx context.Context) error) burst {
	return func(ctx context.Context, n int) ([]time.Duration, error) {
		n = max(1, n/inFlight)
		errs := make(chan error, inFlight)
		began := time.Now()
		for range inFlight {
			go func() {
				_, err := each(work)(ctx, n)
				errs <- err
			}()
		}
		var failed error
		for range inFlight {
			if err := <-errs; err != nil {
				failed = err
			}
		}
		return spread(time.Since(began), n*inFlight), failed
	}
}

func spread(all time.Duration, n int) []time.Duration {
	return slices.Repeat([]time.Duration{all / time.Duration(n)}, n)
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

// spaced is a burst with a pause after each time, in which the next process of a
// standby hook starts, as an agent's events leave it.
func spaced(pause time.Duration, work burst) burst {
	return func(ctx context.Context, n int) ([]time.Duration, error) {
		var all []time.Duration
		for range n {
			took, err := work(ctx, 1)
			if err != nil {
				return nil, err
			}
			all = append(all, took...)
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
		return all, nil
	}
}
