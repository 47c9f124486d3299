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
	*recording
}

// recording is the file. The models of a conversation may share it, one after the
// other; it is played as one model, that of the beginning.
type recording struct {
	name  string // of the model of the beginning
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
	r := &Recorder{m, &recording{name: m.Name(), file: f, began: time.Now()}}
	if err := r.write(head{Cassette: version, Model: m.Name()}); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(file))
	}
	return r, nil
}

// Follow returns a recorder of another model that goes on with the same file.
// Closing either closes it.
func (r *Recorder) Follow(m model.Model) *Recorder { return &Recorder{m, r.recording} }

// Name is the recorded model's.
func (r *Recorder) Name() string { return r.model.Name() }

// Close closes the file. Its error says also that a call could not be written.
func (t *recording) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.file == nil {
		return t.err
	}
	err := errors.Join(t.err, t.file.Close())
	t.file = nil
	return err
}

// Generate asks the recorded model. A call that cannot be written does not fail:
// the recorder's Close says so.
func (r *Recorder) Generate(ctx context.Context, request model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		told := request
		if own := r.model.Name(); told.Model == own {
			told.Model = r.name // when it is played, nobody switches
		}
		text, hash, err := encode(told)
		if err != nil {
			yield(model.Chunk{}, err)
			return
		}
		began := time.Now()
		c := call{N: r.number(), Hash: hash, Began: protocol.Milliseconds(began.Sub(r.began)), Request: text, Chunks: []chunk{}}
		if r.model.Name() != r.name {
			c.Model = r.model.Name()
		}
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

func (t *recording) number() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls++
	return t.calls
}

// write appends one line in one piece.
func (t *recording) write(line any) error {
	text, err := protocol.Marshal(line)
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.err != nil:
		return t.err
	case t.file == nil:
		t.err = errors.New("record: a call ended after the cassette was closed")
		return t.err
	}
	if err == nil {
		_, err = t.file.Write(append(text, '\n'))
	}
	if err != nil {
		t.err = fmt.Errorf("record: %w", err)
	}
	return t.err
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
