package acpproxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/hookd-dev/hookd/executor/proxied"
	"github.com/hookd-dev/hookd/internal/fsutil"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/acp"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
	"github.com/hookd-dev/hookd/protocol/toolname"
)

// judgement is a request of the agent while hooks judge it, and after that.
type judgement struct {
	ctx  context.Context // of the hooks
	stop context.CancelCauseFunc

	mu     sync.Mutex
	passed bool
	gone   bool
}

// unlessGone passes the request on when it is its turn, unless the agent has given it up:
// then answer answers the agent.
func (j *judgement) unlessGone(line []byte, answer func()) relay.Decision {
	return relay.Pass(line).Unless(func() bool {
		j.mu.Lock()
		gone := j.gone
		j.passed = !gone
		j.mu.Unlock()
		if gone {
			answer()
		}
		return gone
	})
}

func (j *judgement) unsent() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return !j.passed
}

// gaveUp takes that the agent gives the request up: hooks are asked no more. It reports
// whether the client has not got it.
func (j *judgement) gaveUp() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.passed {
		return false
	}
	j.gone = true
	j.stop(errCancelled)
	return true
}

// unanswered is what became of a question that nobody answers any more. The error says that the agent
// has given it up.
func (j *judgement) unanswered() (answer, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch cause := context.Cause(j.ctx); {
	case j.gone:
		return answer{}, cause
	case errors.Is(cause, errCancelled): // the person cancels the turn
		return answer{by: protocol.ByPerson, words: errUnanswered.Error()}, nil
	default:
		return answer{by: protocol.ByFault, words: errUnanswered.Error() + ": " + cause.Error()}, nil
	}
}

// clientCall is something that the agent has the client do: it is judged as the call of a
// tool.
type clientCall struct {
	judgement
	protocol.Call
	told    *proxied.Call // what hooks are told of it
	session *session
	request *request
	asked   protocol.RawMessage // params of the request
	words   protocol.RawMessage // the command with its args as a list of words, nil: it has no args
}

// clientCall decides a request of the agent to read or write a file or to run a command.
func (g *guard) clientCall(m *relay.Message, r *request) (relay.Decision, error) {
	p, err := readParams(m, "sessionId", "path", "line", "limit", "content", "command", "args", "env", "cwd")
	if err != nil {
		return relay.Decision{}, err
	}
	s, err := g.session(p.text("sessionId"))
	if err != nil {
		return relay.Decision{}, err
	}
	c := &clientCall{session: s, request: r, asked: p.raw}
	if err := c.read(m.Method, p); err != nil {
		return relay.Decision{}, err
	}
	c.ToolCallID = "hookd-" + strings.Trim(string(r.ID), `"`)
	ctx, stop := context.WithCancelCause(s.asking())
	c.judgement = judgement{ctx: ctx, stop: stop}
	r.Call.answered, r.Call.gaveUp, r.Call.unsent = c.answered, c.gaveUp, c.unsent
	c.told = s.NewCall(c.Call)
	decide := c.told.Start(ctx)
	return relay.Later(r.Call.lane, func() relay.Decision { return c.judge(m, p, decide) }), nil
}

// inOneWay returns an error if a path of a request leads to one file or another, by who reads it: an
// editor and hooks may begin at different folders.
func inOneWay(p *params, names ...string) error {
	for _, name := range names {
		path := p.get(name)
		if isNothing(path) {
			continue
		}
		if jsonspan.Kind(path) != '"' {
			return fmt.Errorf("the %s of the request is no text", name)
		}
		if _, _, err := fsutil.Folder(jsonspan.Text(path)); err != nil {
			return fmt.Errorf("the %s of the request is %s: %w", name, path, err)
		}
	}
	return nil
}

// read reads the request as the call of a tool of ours.
func (c *clientCall) read(method string, p *params) error {
	need := func(names ...string) error {
		for _, name := range names {
			if jsonspan.Kind(p.get(name)) != '"' {
				return fmt.Errorf("the %s of the request is no text", name)
			}
		}
		return inOneWay(p, "path", "cwd")
	}
	switch method {
	case acp.ReadTextFile:
		c.Name, c.Kind, c.Args = "read_file", protocol.KindRead, object(member{"path", p.get("path")}, member{"offset", given(p.get("line"))}, member{"limit", given(p.get("limit"))})
		return need("path")
	case acp.WriteTextFile:
		c.Name, c.Kind, c.Args = "write_file", protocol.KindWrite, object(member{"path", p.get("path")}, member{"content", p.get("content")})
		return need("path", "content")
	}
	if err := need("command"); err != nil {
		return err
	}
	c.Name, c.Kind, c.Args = "bash", protocol.KindShell, object(member{"command", p.get("command")}, member{"dir", given(p.get("cwd"))}, member{"env", given(p.get("env"))})
	args := p.get("args")
	if !isNothing(args) && jsonspan.Kind(args) != '[' {
		return errors.New("the args of the command are " + jsonspan.KindName(args) + ", not a list")
	}
	for _, arg := range jsonspan.Elements(args) {
		if jsonspan.Kind(arg) != '"' {
			return errors.New("the args of the command have " + jsonspan.KindName(arg) + " where a text is expected")
		}
	}
	if len(jsonspan.Elements(args)) > 0 {
		words := append([]protocol.RawMessage{p.get("command")}, jsonspan.Elements(args)...)
		c.words = object(member{"command", jsonspan.JoinList(words)})
		line, err := toolname.ToOurs("codex", "shell", c.words)
		if err != nil {
			return err
		}
		c.Args = relay.Replace(c.Args, "command", jsonspan.Get(line.Args, "command"))
	}
	return nil
}

func given(value protocol.RawMessage) protocol.RawMessage {
	if isNothing(value) {
		return nil
	}
	return value
}

// judge decides whether the client gets the request, and as what.
func (c *clientCall) judge(m *relay.Message, p *params, decide func() (*protocol.Outcome, error)) relay.Decision {
	o, err := decide()
	if err != nil {
		return c.undecided(err)
	}
	args := jsonspan.Get(o.Event.Data, "args")
	switch {
	case o.Action == protocol.Ask && o.Failure == "":
		if problem := c.ask(o, args); problem != "" {
			return c.refuse(problem, protocol.CallDenied, o)
		}
	case o.Refused():
		return c.refuse(o.RefusalText(), protocol.CallBlocked, o)
	}
	if o.Replaced != nil {
		return c.replaced(o)
	}
	line := p.line(m)
	if !jsonspan.Equal(args, c.Args) {
		if !o.ArgsHidden {
			c.Original = c.Args
		}
		params, err := c.changed(args)
		if err != nil {
			return c.refuse("hooks changed what the agent asks for, which cannot be written so: "+err.Error(), protocol.CallBlocked, o)
		}
		c.Args = args
		c.told.Changed(c.Call)
		line = m.With("params", params)
	}
	return c.unlessGone(line, func() {
		c.failed(protocol.CallError{Kind: protocol.CallAborted, Text: "aborted: " + errCancelled.Error()}, nil)
		if c.over() {
			c.session.guard.send(relay.Server, relay.ErrorLine(c.request.ID, int(acp.RequestCancelled), "hookd: "+errCancelled.Error()))
		}
	})
}

// ask has the person decide about the call with the args that hooks left. It returns why the call may
// not run.
func (c *clientCall) ask(o *protocol.Outcome, args protocol.RawMessage) (problem string) {
	call := c.Call
	call.Args = args
	by := &protocol.Asker{Layer: o.DecidedLayer(), Reason: o.Reason}
	if o.By != nil {
		by.Name = *o.By
	}
	q := &question{call: &call, by: by, options: personOptions, person: func() (answer, error) { return c.askPerson(&call, o) }}
	switch decided, err := c.session.put(c.ctx, q); {
	case err != nil:
		return "the question was not answered"
	case decided.Action != protocol.Allow:
		return decided.RefusalText()
	}
	return ""
}

// changed writes args that hooks changed in the place of what the agent wrote.
func (c *clientCall) changed(args protocol.RawMessage) (protocol.RawMessage, error) {
	params := c.asked
	theirs := map[string]string{"offset": "line", "dir": "cwd"}
	for _, m := range jsonspan.Members(args) {
		before := jsonspan.Get(c.Args, m.Name)
		name := cmp.Or(theirs[m.Name], m.Name)
		switch {
		case before != nil && jsonspan.Equal(before, m.Value):
		case c.Name == "bash" && m.Name == "command" && c.words != nil:
			back, err := toolname.Back("codex", "shell", c.words, object(member{"command", m.Value}))
			if err != nil {
				return nil, err
			}
			words := jsonspan.Elements(jsonspan.Get(back, "command"))
			if len(words) == 0 {
				return nil, errors.New("the command is empty")
			}
			params = relay.Replace(relay.Replace(params, "command", words[0]), "args", jsonspan.JoinList(words[1:]))
		case before == nil && jsonspan.Get(c.asked, name) == nil && name != "line" && name != "limit" && name != "cwd" && name != "env":
			return nil, fmt.Errorf("the request has no %s", name)
		default:
			params = relay.Replace(params, name, m.Value)
		}
	}
	for _, m := range jsonspan.Members(c.Args) {
		if jsonspan.Get(args, m.Name) == nil {
			params = jsonspan.Without(params, cmp.Or(theirs[m.Name], m.Name))
		}
	}
	return params, nil
}

// over reports whether the request was open. It is not any more.
func (c *clientCall) over() bool {
	c.stop(nil)
	return c.session.guard.asked[relay.Server].Remove(c.request)
}

func (c *clientCall) undecided(err error) relay.Decision {
	c.failed(protocol.CallError{Kind: protocol.CallAborted, Text: "aborted: " + err.Error()}, nil)
	if !c.over() {
		return relay.Drop()
	}
	return refused(c.request.ID, int(acp.RequestCancelled), "it was not done: "+err.Error())
}

// refuse answers the agent in the client's place.
func (c *clientCall) refuse(reason string, kind protocol.CallErrorKind, o *protocol.Outcome) relay.Decision {
	s := c.session
	by := ""
	if o.By != nil {
		by = *o.By
	}
	c.failed(protocol.CallError{Kind: kind, Text: reason}, &by)
	s.tell(fmt.Sprintf("%s refused %s: %s", proxied.Who(o), what(&c.Call), proxied.Explain(o, reason)))
	if o.Action == protocol.Stop {
		defer s.cancelTurn(proxied.Who(o) + " ends the turn")
	}
	if !c.over() {
		return relay.Drop()
	}
	return refused(c.request.ID, codeInternal, reason)
}

// replaced answers the agent with what a hook gave in place of a file's text. Nothing else
// can be answered so.
func (c *clientCall) replaced(o *protocol.Outcome) relay.Decision {
	if c.request.Method != acp.ReadTextFile {
		return c.refuse(fmt.Sprintf("the hook %s answers in its place, which the agent cannot take", o.ReplacedBy), protocol.CallBlocked, o)
	}
	m := &relay.Message{Line: relay.ResultLine(c.request.ID, object(texts("content", contentText(o.Replaced))))}
	m.Result = jsonspan.Get(m.Line, "result")
	answer := c.result(m, true)
	return relay.Later("", func() relay.Decision {
		line := answer()
		if !c.over() {
			return relay.Drop()
		}
		return relay.Answer(line)
	})
}

// contentText is the text of a result that a hook gave.
func contentText(result protocol.RawMessage) (words string) {
	content := jsonspan.Get(result, "content")
	if jsonspan.Kind(content) == '"' {
		return jsonspan.Text(content)
	}
	for _, part := range jsonspan.Elements(content) {
		words += jsonspan.Text(jsonspan.Get(part, "text"))
	}
	return words
}

// answered takes the client's answer.
func (c *clientCall) answered(m *relay.Message) relay.Decision {
	c.stop(nil)
	switch {
	case m.Error != nil:
		c.failed(protocol.CallError{Kind: protocol.CallFailed, Text: jsonspan.Text(jsonspan.Get(m.Error, "message"))}, nil)
		return relay.Pass(m.Line)
	case c.request.Method == terminalCreate:
		c.session.keepTerminal(c, m)
		return relay.Pass(m.Line)
	}
	answer := c.result(m, false)
	return relay.Later("", func() relay.Decision { return relay.Pass(answer()) })
}

// result has hooks judge what the agent is to read. It returns what decides the line.
func (c *clientCall) result(m *relay.Message, synthetic bool) func() []byte {
	content := jsonspan.Get(m.Result, "content")
	shown := protocol.Result{Content: protocol.TextContent(jsonspan.Text(content))}
	withhold := func(reason string) []byte { return relay.ErrorLine(c.request.ID, codeInternal, "hookd: "+reason) }
	if !m.Strict && !synthetic {
		c.failed(protocol.CallError{Kind: protocol.CallFailed, Text: errUnreadableAnswer.Error()}, nil)
		return func() []byte { return withhold(errUnreadableAnswer.Error()) }
	}
	decide := c.told.Result(c.session.guard.life, shown, synthetic)
	if decide == nil {
		return func() []byte { return withhold("the result was withheld: " + errEnded.Error()) }
	}
	return func() []byte {
		o, err := decide()
		switch {
		case err != nil:
			return withhold("the result was withheld: " + err.Error())
		case o.Withholds():
			return withhold(refusal(o))
		}
		words := contentText(jsonspan.Get(o.Event.Data, "result"))
		if words == shown.Content.Text() || jsonspan.Kind(content) != '"' {
			return m.Line
		}
		return m.With("result", relay.Replace(m.Result, "content", jsonspan.Quote(words)))
	}
}

// failed tells hooks that the call has no result.
func (c *clientCall) failed(problem protocol.CallError, by *string) {
	c.session.guard.background.observe(c.told.Lost(c.session.guard.life, problem, by), nil)
}

var (
	errEnded            = errors.New("the call had ended before")
	errUnreadableAnswer = errors.New("the answer of the editor has a member twice, or text that is not valid UTF-8")
)
