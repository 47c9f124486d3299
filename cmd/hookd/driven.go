//go:build !lean

package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/oklog/ulid/v2"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/protocol"
)

// runDriven is hookd run --json without a prompt: a program writes a JSON object
// a line to stdin, and reads one a line from stdout. See docs/run-json.md. The
// exit code is that of the last turn.
func (a *app) runDriven(ctx context.Context, flags *runFlags) error {
	d := &driven{out: &drivenLines{lines: runLines{a.out}}, asked: map[string]chan agentloop.Answer{}}
	c, err := a.converse(ctx, flags, d)
	if err != nil {
		return err
	}
	d.c = c
	if err := d.out.line(sessionOpened{"session", c.session.ID(), c.session.Path(), c.engine.project(), model.Origin(c.model), len(c.loop.Messages())}); err != nil {
		return errors.Join(failed("output", err, ""), c.session.Close())
	}
	d.drive(ctx, a.stdin)
	if err := c.end(ctx, nil, d.out); err != nil {
		return failed("session", err, "")
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(d.exit, errAborted) {
		return exitCode(exitFailed)
	}
	return d.exit
}

// drivenInput is a line that a program writes. Exactly one member is set, save
// that attachments go with a prompt.
type drivenInput struct {
	Prompt      *string         `json:"prompt"`
	Attachments []protocol.Part `json:"attachments"`
	Abort       bool            `json:"abort"`
	Answer      *drivenAnswer   `json:"answer"`
}

type drivenAnswer struct {
	ID       string `json:"id"` // of the question; "" is the only one
	OptionID string `json:"optionId"`
	Text     string `json:"text"` // for the model, with a refusal
}

// The lines that a program reads besides those of a run.
type (
	sessionOpened struct {
		Kind       string `json:"kind"` // session
		ID         string `json:"id"`
		Transcript string `json:"transcript"`
		Project    string `json:"project"`
		Model      string `json:"model"`
		Messages   int    `json:"messages"` // that the conversation holds already
	}
	questionLine struct {
		Kind    string                      `json:"kind"` // question
		ID      string                      `json:"id"`
		Event   protocol.EventName          `json:"event"`
		AskedBy string                      `json:"askedBy"`
		Text    string                      `json:"text"`
		Call    *protocol.Call              `json:"call"`
		Options []protocol.PermissionOption `json:"options"`
	}
	withdrawnLine struct {
		Kind string `json:"kind"` // withdrawn
		ID   string `json:"id"`
	}
	errorLine struct {
		Kind    string `json:"kind"` // error
		Code    string `json:"code"`
		Message string `json:"message"`
		Hint    string `json:"hint,omitzero"`
		Line    int    `json:"line"` // of the input, from 1
	}
)

// drivenLines lets several goroutines write lines.
type drivenLines struct {
	mu    sync.Mutex
	lines runLines
}

func (l *drivenLines) line(value any) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines.line(value)
}

func (l *drivenLines) see(y agentloop.Yield) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lines.see(y)
}

// driven is a conversation with a program.
type driven struct {
	c   *conversation
	out *drivenLines

	mu    sync.Mutex
	asked map[string]chan agentloop.Answer // the open questions
	abort context.CancelCauseFunc          // of the turn that runs
	queue []agentloop.Prompt               // what waits for its end
	turns sync.WaitGroup
	ended bool // the input has
	exit  error
}

// drive obeys the input until it ends; what was asked for before is still done.
func (d *driven) drive(ctx context.Context, in io.Reader) {
	lines := make(chan drivenLine)
	go readDriven(in, lines) // a read of stdin cannot be taken back
	for {
		select {
		case <-ctx.Done():
			d.turns.Wait()
			return
		case line, open := <-lines:
			if !open {
				d.hangUp()
				d.turns.Wait()
				return
			}
			if fault := d.obey(ctx, line); fault != nil {
				d.out.line(errorLine{"error", fault.Code, fault.Message, fault.Hint, line.number})
			}
		}
	}
}

type drivenLine struct {
	number int
	text   []byte
	err    error
}

// maxDriven bounds a line of input, in bytes.
const maxDriven = 32 << 20

var errLongLine = errors.New("it is longer than 32 MiB")

func readDriven(in io.Reader, lines chan<- drivenLine) {
	defer close(lines)
	reader := bufio.NewReader(in)
	for number := 1; ; number++ {
		text, err := readBounded(reader)
		if len(bytes.TrimSpace(text)) > 0 || err != nil && !errors.Is(err, io.EOF) {
			line := drivenLine{number: number, text: text}
			if !errors.Is(err, io.EOF) {
				line.err = err
			}
			lines <- line
		}
		if err != nil && !errors.Is(err, errLongLine) {
			return
		}
	}
}

// readBounded reads a line. One that is too long is skipped to its end.
func readBounded(reader *bufio.Reader) (line []byte, err error) {
	long := false
	for {
		piece, err := reader.ReadSlice('\n')
		if !long {
			line = append(line, piece...)
		}
		if len(line) > maxDriven {
			line, long = nil, true
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if long && (err == nil || errors.Is(err, io.EOF)) {
			return nil, errLongLine
		}
		return line, err
	}
}

// obey carries out a line of input. A fault says why it does nothing.
func (d *driven) obey(ctx context.Context, line drivenLine) *Fault {
	if line.err != nil {
		return usage("bad-input", fmt.Sprintf("line %d cannot be read: %v", line.number, line.err), "")
	}
	input, fault := decodeDriven(line.text)
	switch {
	case fault != nil:
		return fault
	case input.Prompt != nil:
		d.prompt(ctx, agentloop.Prompt{Text: *input.Prompt, Attachments: input.Attachments})
		return nil
	case input.Abort:
		return d.abortTurn()
	default:
		return d.answer(input.Answer)
	}
}

// drivenHint says what a line of input looks like.
const drivenHint = `one of {"prompt":"…"}, {"abort":true}, {"answer":{"optionId":"…"}} a line`

func decodeDriven(text []byte) (*drivenInput, *Fault) {
	var input drivenInput
	if err := json.Unmarshal(text, &input, json.RejectUnknownMembers(true)); err != nil {
		return nil, usage("bad-input", inputProblem(err), drivenHint)
	}
	set := 0
	for _, is := range []bool{input.Prompt != nil, input.Abort, input.Answer != nil} {
		if is {
			set++
		}
	}
	switch {
	case set != 1:
		return nil, usage("bad-input", "a line of input asks for exactly one thing", drivenHint)
	case len(input.Attachments) > 0 && input.Prompt == nil:
		return nil, usage("bad-input", "attachments go with a prompt", drivenHint)
	case input.Prompt != nil && *input.Prompt == "" && len(input.Attachments) == 0:
		return nil, usage("bad-input", "the prompt is empty", drivenHint)
	}
	for i, part := range input.Attachments {
		if part.Type != protocol.PartText && part.Type != protocol.PartImage {
			return nil, usage("bad-input", fmt.Sprintf("attachment %d: %q is no kind of attachment", i, part.Type), "text and image are")
		}
	}
	return &input, nil
}

// inputProblem says what is wrong with a line, without the names of Go types.
func inputProblem(err error) string {
	var syntax *jsontext.SyntacticError
	var semantic *json.SemanticError
	switch {
	case errors.As(err, &syntax):
		return fmt.Sprintf("this is not JSON: at byte %d: %v", syntax.ByteOffset, syntax.Err)
	case errors.As(err, &semantic) && semantic.Err != nil:
		return fmt.Sprintf("%s: %v", semantic.JSONPointer, semantic.Err)
	case errors.As(err, &semantic):
		return fmt.Sprintf("%s: no %s belongs here", cmp.Or(string(semantic.JSONPointer), "the line"), semantic.JSONKind)
	}
	return err.Error()
}

// prompt begins a turn, or has it wait for the one that runs.
func (d *driven) prompt(ctx context.Context, prompt agentloop.Prompt) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.abort != nil {
		prompt.Source = "follow-up"
		d.queue = append(d.queue, prompt)
		return
	}
	turn, abort := context.WithCancelCause(ctx)
	d.abort = abort
	d.turns.Go(func() {
		for next := &prompt; next != nil; {
			d.turn(turn, *next)
			turn, next = d.next(ctx)
		}
	})
}

// next is the prompt that waits longest, and the context of its turn.
func (d *driven) next(ctx context.Context) (context.Context, *agentloop.Prompt) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.abort(nil)
	d.abort = nil
	if len(d.queue) == 0 || ctx.Err() != nil {
		return nil, nil
	}
	next := d.queue[0]
	d.queue = d.queue[1:]
	turn, abort := context.WithCancelCause(ctx)
	d.abort = abort
	return turn, &next
}

func (d *driven) turn(ctx context.Context, prompt agentloop.Prompt) {
	run, err := d.c.loop.RunPrompt(ctx, prompt)
	if err != nil {
		d.exit = exitCode(exitFailed)
		d.out.line(resultLine{Kind: "result", Error: err.Error()})
		return
	}
	for y := range run.Events() {
		d.out.see(y) // an output that is gone ends the command by itself
	}
	err = run.Wait()
	d.exit = runExit(ctx, run.Result(), err)
	d.out.mu.Lock()
	defer d.out.mu.Unlock()
	d.out.lines.end(run.Result(), err)
}

// abortTurn ends the turn that runs, and what waits for it.
func (d *driven) abortTurn() *Fault {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queue = nil
	if d.abort == nil {
		return usage("not-running", "no turn runs", "")
	}
	d.abort(errAborted)
	return nil
}

// answer gives the program's answer to the question that it names, or to the
// only one.
func (d *driven) answer(given *drivenAnswer) *Fault {
	d.mu.Lock()
	defer d.mu.Unlock()
	id := given.ID
	if id == "" && len(d.asked) == 1 {
		for only := range d.asked {
			id = only
		}
	}
	reply := d.asked[id]
	if reply == nil {
		return usage("no-question", "no question waits for this answer", "a line of kind question has the id")
	}
	delete(d.asked, id)
	reply <- agentloop.Answer{OptionID: given.OptionID, Text: given.Text}
	return nil
}

// errInputEnded is why nobody answers any more.
var errInputEnded = errors.New("the input has ended")

// hangUp leaves no question without an answer when the input has ended.
func (d *driven) hangUp() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
	for id, reply := range d.asked {
		delete(d.asked, id)
		close(reply)
	}
}

// Approve puts a question to the program.
func (d *driven) Approve(ctx context.Context, q agentloop.Question) (agentloop.Answer, error) {
	id, reply := ulid.Make().String(), make(chan agentloop.Answer, 1)
	d.mu.Lock()
	ended := d.ended
	if !ended {
		d.asked[id] = reply
	}
	d.mu.Unlock()
	if ended {
		return agentloop.Answer{}, errInputEnded
	}
	defer func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.asked, id)
	}()
	if err := d.out.line(questionLine{"question", id, q.Event, q.AskedBy, q.Text, q.Call, q.Options}); err != nil {
		return agentloop.Answer{}, err
	}
	select {
	case answer, given := <-reply:
		if !given {
			return agentloop.Answer{}, errInputEnded
		}
		return answer, nil
	case <-ctx.Done():
		d.out.line(withdrawnLine{"withdrawn", id})
		return agentloop.Answer{}, context.Cause(ctx)
	}
}
