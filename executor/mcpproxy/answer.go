package mcpproxy

import (
	"errors"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/executor/proxied"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// answered takes the server's answer to the call.
func (c *call) answered(m *relay.Message) relay.Decision {
	if !c.progress.from(running, ending) { // before it had the call, or once more
		c.guard.options.note("an answer of the server that its call did not wait for was not passed on")
		return relay.Drop()
	}
	if m.Error != nil {
		return relay.Later("", func() relay.Decision {
			return c.passWith(m, "error", instead{value: c.judgeError(m.Error)})
		})
	}
	r := resultOfCall(c, m.Result)
	switch id, isTask := r.task(); {
	case r.unclear != "":
	case r.needsInput():
		return c.needsInput(m)
	case isTask:
		return c.becomesTask(m, id)
	}
	read, problem := r.read()
	if problem != "" {
		return relay.Later("", func() relay.Decision { return c.passWith(m, "result", r.withhold(problem)) })
	}
	decide := c.told.Result(c.ctx, read.shown, false)
	return relay.Later("", func() relay.Decision { return c.passWith(m, "result", r.judge(read, decide)) })
}

// done reports whether the answer may be sent: the client may have given the call up.
func (c *call) done() bool {
	defer c.stop(nil)
	return c.guard.pending.Remove(c.request)
}

// instead is what the client reads in place of what a server wrote: another result or error,
// or an error in place of a result. The zero value is: as it is.
type instead struct {
	value   protocol.RawMessage
	refusal string
}

// line is an answer of hookd's own with it.
func (i instead) line(id protocol.RawMessage) []byte {
	if i.refusal != "" {
		return relay.ErrorLine(id, relay.CodeServer, "hookd: "+i.refusal)
	}
	return relay.ResultLine(id, i.value)
}

// passWith passes the answer on, with something else in place of the member that it has.
func (c *call) passWith(m *relay.Message, member string, to instead) relay.Decision {
	line := m.Line
	switch {
	case to.refusal != "":
		line = to.line(m.ID)
	case to.value != nil:
		line = m.With(member, to.value)
	}
	if !c.done() {
		return relay.Drop()
	}
	return relay.Pass(line)
}

// needsInput passes on that the server wants input. The call goes on with another request.
func (c *call) needsInput(m *relay.Message) relay.Decision {
	if !c.done() {
		c.lost(aborted(errCancelled))
		return relay.Drop()
	}
	c.guard.waits(c, jsonspan.Get(m.Result, "requestState"), nil)
	return relay.Pass(m.Line)
}

// read reads the result. problem says why hooks that judge the results of the tool cannot
// judge this one.
func (r returned) read() (read *result, problem string) {
	shape := &r.asked.method.result
	if r.unclear == "" {
		return readResult(shape, r.raw, r.Args), ""
	}
	if r.guard.mayChange(&r.Call) {
		return nil, "the result was withheld: hooks judge such results, and " + r.unclear
	}
	read = readResult(shape, nil, nil)
	read.shown.Content = protocol.TextContent("[a result that no hook reads: " + r.unclear + "]")
	read.unread = true
	return read, ""
}

// errEnded is why a result is not judged that comes after hooks were told how the call ended.
var errEnded = errors.New("the call had ended before")

// judge returns what the client reads in place of the result. decide is nil of a call that has
// ended before.
func (r returned) judge(read *result, decide func() (*protocol.Outcome, error)) instead {
	switch {
	case decide != nil:
	case !r.guard.mayChange(&r.Call):
		return instead{}
	default:
		return r.withhold("the result was withheld: " + errEnded.Error())
	}
	o, err := decide()
	if err != nil { // the client gave it up, or the connection ends: it was not judged
		return r.withholdAs([]string{"the result was withheld: " + err.Error()})
	}
	if o.Withholds() {
		return r.withholdAs(append([]string{refusal(o)}, append(r.contexts, proxied.Contexts(o)...)...))
	}
	texts := append(slices.Clone(r.contexts), proxied.Contexts(o)...)
	decided, changed, err := decidedResult(o, read.shown)
	if err != nil {
		return r.withhold("the result was withheld: " + err.Error())
	}
	if !changed && len(texts) == 0 || read.unread {
		return instead{}
	}
	if decided.IsError && !read.ofTool {
		return r.withholdAs(append([]string{decided.Content.Text()}, texts...))
	}
	raw, err := read.write(decided, texts)
	if err != nil {
		return r.withhold("the result was withheld: " + err.Error())
	}
	return instead{value: raw}
}

// decidedResult returns the result as hooks left it, and whether they changed it.
func decidedResult(o *protocol.Outcome, shown protocol.Result) (decided protocol.Result, changed bool, err error) {
	raw := jsonspan.Get(o.Event.Data, "result")
	was, err := protocol.Marshal(shown)
	if err != nil || jsonspan.Equal(was, raw) {
		return shown, false, err
	}
	decided, err = resultOf(raw)
	return decided, true, err
}

// resultOf reads a result that hooks left: its content may be a list of parts, or one text.
func resultOf(raw protocol.RawMessage) (decided protocol.Result, err error) {
	err = json.Unmarshal(raw, &decided, jsontext.AllowInvalidUTF8(true))
	return decided, err
}

// withhold is a reason in place of the result.
func (r returned) withhold(reason string) instead {
	text, more, _ := r.failed(protocol.CallError{Kind: protocol.CallFailed, Text: reason}, nil)
	return r.withholdAs(append([]string{text}, append(r.contexts, more...)...))
}

func (r returned) withholdAs(texts []string) instead {
	return r.asked.method.result.refused(texts, r.asked.modern)
}

// replaced answers the call with the result that a hook gave in place of the tool, which
// hooks judge as any other.
func (c *call) replaced(o *protocol.Outcome) relay.Decision {
	given, err := resultOf(o.Replaced)
	if err == nil {
		if len(given.Content) == 0 {
			given.Content = protocol.TextContent("no content")
		}
		if decide := c.told.Result(c.ctx, given, true); decide != nil {
			o, err = decide()
		} else {
			err = errEnded
		}
	}
	to := instead{}
	if err == nil {
		to, err = madeOf(c, o, given)
	}
	if err != nil {
		to = c.asked.method.result.refused(append([]string{"the result was withheld: " + err.Error()}, c.contexts...), c.asked.modern)
	}
	if !c.progress.to(ending) || !c.done() {
		return relay.Drop()
	}
	return relay.Answer(to.line(c.request.ID))
}

// madeOf is the answer with a result that a hook gave in place of the server, as hooks left it.
func madeOf(c *call, o *protocol.Outcome, given protocol.Result) (instead, error) {
	shape, texts := &c.asked.method.result, append(slices.Clone(c.contexts), proxied.Contexts(o)...)
	if o.Withholds() {
		return shape.refused(append([]string{refusal(o)}, texts...), c.asked.modern), nil
	}
	decided, _, err := decidedResult(o, given)
	if err != nil {
		return instead{}, err
	}
	if decided.IsError && !shape.ofTool {
		return shape.refused(append([]string{decided.Content.Text()}, texts...), c.asked.modern), nil
	}
	items, err := shape.contentOf(append(decided.Content, parts(texts)...), c.Args)
	return instead{value: shape.made(items, decided.IsError, c.asked.modern)}, err
}

// judgeError has hooks read an error of JSON-RPC, whose text they may change. It returns nil
// if the client reads the error as it is. One that such hooks did not read is withheld. Of an
// error that could be read in two ways hooks read all of it, and what they change takes the
// place of the whole.
func (c *call) judgeError(problem protocol.RawMessage) protocol.RawMessage {
	if fixed := jsonspan.ReplaceLoneSurrogates(slices.Clone(problem)); !jsonspan.Valid(problem) && jsonspan.Valid(fixed) {
		problem = fixed
	}
	message := jsonspan.Get(problem, "message")
	clear := jsonspan.Valid(problem) && jsonspan.Kind(message) == '"' && proxied.Misread(problem, "code", "message", "data") == ""
	was := jsonspan.Text(message)
	if !clear {
		was = strings.ToValidUTF8(string(problem), "\ufffd")
	}
	read := protocol.CallError{Kind: protocol.CallFailed, Text: was}
	text, more, err := c.failed(read, nil)
	if err != nil && c.guard.events.MayChange(protocol.ToolCallError, protocol.ToolCallErrorData{Call: c.Call, Error: read}) {
		return jsonspan.Get(relay.ErrorLine(nil, relay.CodeServer, "hookd: the error was withheld: "+err.Error()), "error")
	}
	for _, context := range append(c.contexts, more...) {
		text += "\n" + context
	}
	switch {
	case text == was:
		return nil
	case clear:
		return relay.Replace(problem, "message", jsonspan.Quote(text))
	}
	return jsonspan.Get(relay.ErrorLine(nil, relay.CodeServer, text), "error")
}
