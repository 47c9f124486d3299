package model

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/hookd-dev/hookd/protocol"
)

// Scripted is a model that plays the turns of a script, one per call, whatever it is
// asked. A turn may state what the request must look like, so that a story can prove what
// the model read.
type Scripted struct {
	script *script
	file   string

	mu   sync.Mutex
	next int // index of the turn that the next call plays
}

// Name returns the script's name, "scripted" if it states none.
func (s *Scripted) Name() string {
	if s.script.Name != "" {
		return s.script.Name
	}
	return "scripted"
}

// Played returns the number of turns played so far.
func (s *Scripted) Played() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.next
}

// Generate plays the next turn. A request that the turn did not expect, or one
// after the last turn, is an error that names the script's file and line.
func (s *Scripted) Generate(ctx context.Context, request Request) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		turn, err := s.take()
		if err == nil {
			err = turn.expected(s.file, request)
		}
		if err != nil {
			yield(Chunk{}, err)
			return
		}
		for chunk, err := range turn.play(ctx, s.script.ContextMax) {
			if !yield(chunk, err) || err != nil {
				return
			}
		}
	}
}

func (s *Scripted) take() (*turn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next >= len(s.script.Turns) {
		turns := "turns"
		if len(s.script.Turns) == 1 {
			turns = "turn"
		}
		return nil, fmt.Errorf("%s: the script has %d %s, and the model was called once more", s.file, len(s.script.Turns), turns)
	}
	turn := &s.script.Turns[s.next]
	s.next++
	return turn, nil
}

// play streams a turn: reasoning, text, tool calls, usage, finish reason. A failure comes
// after them.
func (t *turn) play(ctx context.Context, contextMax *int64) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		if err := wait(ctx, t.Pace.Delay.Duration); err != nil {
			yield(Chunk{}, err)
			return
		}
		if !t.stream(ctx, Thinking, t.Thinking, yield) || !t.stream(ctx, Text, t.Text, yield) {
			return
		}
		for i, call := range t.ToolCalls {
			part := protocol.Part{Type: protocol.PartToolCall, ToolCallID: call.ID, Name: call.Name, Args: call.Args.json}
			if part.ToolCallID == "" {
				part.ToolCallID = fmt.Sprintf("call-%d-%d", t.number, i+1)
			}
			if !yield(Chunk{Type: PartDone, Part: part}, nil) {
				return
			}
		}
		if t.Pace.Hang {
			<-ctx.Done()
		}
		switch {
		case ctx.Err() != nil:
			yield(Chunk{}, context.Cause(ctx))
		case t.Failure.Text != "":
			yield(Chunk{}, t.Failure.err())
		default:
			if t.Usage == nil || yield(Chunk{Type: Usage, Usage: t.Usage.callUsage(contextMax)}, nil) {
				yield(Chunk{Type: Finish, Reason: t.finishReason()}, nil)
			}
		}
	}
}

// stream yields a text in pieces of t.Chunk characters, t.Pace.ChunkDelay apart. It
// reports whether to go on.
func (t *turn) stream(ctx context.Context, kind ChunkType, text string, yield func(Chunk, error) bool) bool {
	runes := []rune(text)
	size := t.Pace.Chunk
	if size <= 0 {
		size = max(len(runes), 1)
	}
	for start := 0; start < len(runes); start += size {
		if start > 0 {
			if err := wait(ctx, t.Pace.ChunkDelay.Duration); err != nil {
				return yield(Chunk{}, err) && false
			}
		}
		piece := string(runes[start:min(start+size, len(runes))])
		if !yield(Chunk{Type: kind, Text: piece}, nil) {
			return false
		}
	}
	return true
}

// err returns the failure as an error: an [Error] if it stands for one of a served model,
// else one that no further try mends.
func (f *scriptedFailure) err() error {
	err := errors.New(f.Text)
	if !f.served() {
		return err
	}
	return &Error{Status: f.Status, Retryable: f.Lost || RetryableStatus(f.Status), RetryAfter: f.RetryAfter.Duration, Err: err}
}

func (t *turn) finishReason() string {
	switch {
	case t.FinishReason != "":
		return t.FinishReason
	case len(t.ToolCalls) > 0:
		return "tools"
	default:
		return "stop"
	}
}

// wait sleeps, or returns the context's cause when that ends first.
func wait(ctx context.Context, d time.Duration) error {
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	return context.Cause(ctx)
}

// Load reads the script of a scripted model from a YAML file. An error names
// the file and the line.
func Load(file string) (*Scripted, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read script: %w", err)
	}
	return Parse(file, data)
}

// Parse reads the script of a scripted model; name stands for it in errors.
func Parse(name string, data []byte) (*Scripted, error) {
	parsed, err := decode(data)
	if err != nil {
		message := strings.ReplaceAll(strings.TrimPrefix(err.Error(), "yaml: "), "\n", " ")
		return nil, fmt.Errorf("script %s: %s", name, message)
	}
	return &Scripted{script: parsed, file: name}, nil
}

// expected returns an error that shows what the model was sent where that is
// not what the turn states.
func (t *turn) expected(file string, request Request) error {
	for _, e := range t.Expect {
		text, _ := e.place(request)
		var want string
		switch {
		case e.Contains != "" && !strings.Contains(text, e.Contains):
			want = fmt.Sprintf("to contain %q", e.Contains)
		case e.Lacks != "" && strings.Contains(text, e.Lacks):
			want = fmt.Sprintf("to lack %q", e.Lacks)
		case e.Equals != nil && text != *e.Equals:
			want = fmt.Sprintf("to be %q", *e.Equals)
		case e.pattern != nil && !e.pattern.MatchString(text):
			want = fmt.Sprintf("to match %q", e.Matches)
		default:
			continue
		}
		return fmt.Errorf("%s:%d: turn %d expected %s %s, and the model was sent %q", file, t.line, t.number, e.In, want, text)
	}
	return nil
}
