package cassette

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"sync"
	"time"

	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/protocol"
)

// Recorder is a model whose traffic is written to a file.
type Recorder struct {
	model model.Model
	began time.Time

	mu    sync.Mutex
	file  *os.File
	calls int
	err   error // why nothing more is written
}

// Record makes a new file, which only its owner can read, and returns a model
// that writes to it what another model is asked and answers. A file that is
// there already is an error: it is not overwritten.
func Record(file string, m model.Model) (*Recorder, error) {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	r := &Recorder{model: m, file: f, began: time.Now()}
	if err := r.write(head{Cassette: version, Model: m.Name()}); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(file))
	}
	return r, nil
}

// Name is the recorded model's.
func (r *Recorder) Name() string { return r.model.Name() }

// Close closes the file. Its error says also that a call could not be written.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		return r.err
	}
	err := errors.Join(r.err, r.file.Close())
	r.file = nil
	return err
}

// Generate asks the recorded model. A call that cannot be written does not fail:
// [Recorder.Close] says so.
func (r *Recorder) Generate(ctx context.Context, request model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		text, hash, err := encode(request)
		if err != nil {
			yield(model.Chunk{}, err)
			return
		}
		began := time.Now()
		c := call{N: r.number(), Hash: hash, Began: protocol.Milliseconds(began.Sub(r.began)), Request: text, Chunks: []chunk{}}
		ended := false
		defer func() { // also when the model or who reads it panics
			c.Cut = !ended && c.Error == nil && !finished(c.Chunks)
			c.Ended = protocol.Milliseconds(time.Since(r.began))
			r.write(c)
		}()
		for part, err := range r.model.Generate(ctx, request) {
			if err == nil {
				c.Chunks = append(c.Chunks, keep(part, time.Since(began)))
			} else if ctx.Err() == nil {
				c.Error = failureOf(err)
			}
			if !yield(part, err) {
				return
			}
		}
		ended = ctx.Err() == nil
	}
}

func finished(chunks []chunk) bool {
	return len(chunks) > 0 && chunks[len(chunks)-1].Type == model.Finish
}

func (r *Recorder) number() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls++
	return r.calls
}

// write appends one line in one piece.
func (r *Recorder) write(line any) error {
	text, err := protocol.Marshal(line)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.err != nil:
		return r.err
	case r.file == nil:
		r.err = errors.New("record: a call ended after the cassette was closed")
		return r.err
	}
	if err == nil {
		_, err = r.file.Write(append(text, '\n'))
	}
	if err != nil {
		r.err = fmt.Errorf("record: %w", err)
	}
	return r.err
}

func failureOf(err error) *failure {
	f := &failure{Text: err.Error(), ContextFull: errors.Is(err, model.ErrContextFull)}
	if known := new(model.Error); errors.As(err, &known) {
		f.Model, f.Status, f.Retryable = true, known.Status, known.Retryable
		f.RetryAfterMs = protocol.Milliseconds(known.RetryAfter)
		f.Text = known.Err.Error()
	}
	return f
}
