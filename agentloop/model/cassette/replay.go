package cassette

import (
	"context"
	"fmt"
	"iter"
	"os"
	"sync"
	"time"

	"github.com/hookd-dev/hookd/agentloop/model"
)

// maxCassette is the size of a cassette that is read.
const maxCassette = 1 << 30

// Options say how a cassette is played.
type Options struct {
	Loose bool // a request that differs from the recorded one gets its answer all the same
	Timed bool // chunks come as slowly as they did
}

// Player is a model that answers as a cassette does.
type Player struct {
	options Options
	name    string
	file    string
	torn    bool

	mu     sync.Mutex
	calls  []call
	played []bool
}

// Replay reads a cassette.
func Replay(file string, options Options) (*Player, error) {
	if info, err := os.Stat(file); err == nil && (info.Size() > maxCassette || info.IsDir()) {
		return nil, fmt.Errorf("cassette %s: it is a folder, or larger than %d MiB", file, maxCassette>>20)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("cassette: %w", err)
	}
	h, calls, torn, err := parse(file, data)
	if err != nil {
		return nil, err
	}
	return &Player{options: options, name: h.Model, file: file, torn: torn, calls: inOrder(calls), played: make([]bool, len(calls))}, nil
}

// inOrder puts calls in the order in which they began; the file has them in the
// order in which they ended.
func inOrder(calls []call) []call {
	ordered := make([]call, 0, len(calls))
	for _, c := range calls {
		i := len(ordered)
		for i > 0 && ordered[i-1].N > c.N {
			i--
		}
		ordered = append(ordered[:i], append([]call{c}, ordered[i:]...)...)
	}
	return ordered
}

// Name is the name of the model that was recorded.
func (p *Player) Name() string { return p.name }

// Generate plays the next call. A request other than the recorded one is an
// error that names the first difference. Calls that ran side by side may come in
// another order.
func (p *Player) Generate(ctx context.Context, request model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		c, err := p.take(request)
		if err != nil {
			yield(model.Chunk{}, err)
			return
		}
		began := time.Now()
		for i := range c.Chunks {
			if err := p.wait(ctx, began, c.Chunks[i].At); err != nil {
				yield(model.Chunk{}, err)
				return
			}
			if !yield(c.Chunks[i].play(), nil) {
				return
			}
		}
		switch {
		case ctx.Err() != nil:
			yield(model.Chunk{}, context.Cause(ctx))
		case c.Error != nil:
			yield(model.Chunk{}, c.Error.error())
		case c.Cut:
			yield(model.Chunk{}, fmt.Errorf("%s: call %d was aborted when it was recorded, and ends here", p.file, c.N))
		}
	}
}

func (p *Player) wait(ctx context.Context, began time.Time, ms float64) error {
	if p.options.Timed {
		timer := time.NewTimer(time.Duration(ms*float64(time.Millisecond)) - time.Since(began))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	return context.Cause(ctx)
}

// take finds the call that a request is answered with: the first that was not
// played yet, or one that began before that one had ended and fits.
func (p *Player) take(request model.Request) (*call, error) {
	text, hash, err := encode(request)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	first := -1
	for i := range p.calls {
		if p.played[i] {
			continue
		}
		if first < 0 {
			first = i
		} else if p.calls[i].Began >= p.calls[first].Ended {
			break
		}
		if p.calls[i].Hash == hash {
			p.played[i] = true
			return &p.calls[i], nil
		}
	}
	switch {
	case first < 0 && p.torn:
		return nil, fmt.Errorf("%s: the cassette has %d whole calls and a last line that was cut off, and the model was called once more", p.file, len(p.calls))
	case first < 0:
		return nil, fmt.Errorf("%s: the cassette has %d calls, and the model was called once more", p.file, len(p.calls))
	case !p.options.Loose:
		return nil, fmt.Errorf("%s: call %d was recorded with another request: %s", p.file, p.calls[first].N, firstDifference(p.calls[first].Request, text))
	}
	p.played[first] = true
	return &p.calls[first], nil
}

func (f *failure) error() error {
	var err error = &again{f.Text, nil}
	if f.ContextFull {
		err = &again{f.Text, model.ErrContextFull}
	}
	if !f.Model {
		return err
	}
	return &model.Error{Status: f.Status, Retryable: f.Retryable, RetryAfter: time.Duration(f.RetryAfterMs * float64(time.Millisecond)), Err: err}
}

// again is a recorded error; is may be one of the errors that code asks for.
type again struct {
	text string
	is   error
}

func (a *again) Error() string { return a.text }
func (a *again) Unwrap() error { return a.is }
