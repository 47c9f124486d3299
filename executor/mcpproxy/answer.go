package mcpproxy

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/hookd-dev/hookd/executor/proxied"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// returned is a call and the server's answer to it.
type returned struct {
	*call
	m *relay.Message
}

// answered takes the server's answer to the call.
func (c *call) answered(m *relay.Message) relay.Decision {
	r := returned{c, m}
	if !c.progress.from(running, ending) { // before it had the call, or once more
		c.guard.options.note("an answer of the server that its call did not wait for was not passed on")
		return relay.Drop()
	}
	switch {
	case m.Error != nil:
		return relay.Later("", func() relay.Decision { return r.withError() })
	case jsonspan.Text(jsonspan.Get(m.Result, "resultType")) == "input_required":
		return r.needsInput()
	}
	read, problem := r.read()
	if problem != "" {
		return relay.Later("", func() relay.Decision { return r.withhold(problem) })
	}
	decide := c.guard.events.Begin(c.ctx, protocol.ToolCallEnd, c.endData(read.shown, false))
	return relay.Later("", func() relay.Decision { return r.judgeResult(read, decide) })
}

// done reports whether the answer may be sent: the client may have given the call up.
func (c *call) done() bool {
	defer c.stop(nil)
	return c.guard.pending.Remove(c.request)
}

// needsInput passes on that the server wants input. The call goes on with another request.
func (r returned) needsInput() relay.Decision {
	key := r.asked.key(jsonspan.Get(r.m.Result, "requestState"))
	r.guard.unfinished.add(key, &call{Call: r.Call, began: r.began, contexts: r.contexts})
	if !r.done() {
		return relay.Drop()
	}
	return relay.Pass(r.m.Line)
}

// read reads the result of an answer. problem says why hooks that judge the results of the
// tool cannot judge this one.
func (r returned) read() (read *result, problem string) {
	raw := r.m.Result
	if !r.m.Strict {
		if raw = jsonspan.ReplaceLoneSurrogates(slices.Clone(raw)); !jsonspan.Valid(raw) {
			problem, raw = "it has a member twice, or text that is not valid UTF-8, so that hooks and the client could read two different things", nil
		}
	}
	isTask := jsonspan.Text(jsonspan.Get(raw, "resultType")) == "task" || jsonspan.Get(raw, "task") != nil && jsonspan.Get(raw, "content") == nil
	if isTask {
		problem = "it comes later, as a task"
	}
	if problem != "" && r.guard.mayChange(&r.Call) {
		return nil, "the result was withheld: hooks judge the results of this tool, and " + problem
	}
	read = readResult(raw)
	if problem != "" {
		read.shown.Content = protocol.TextContent("[a result that no hook reads: " + problem + "]")
		read.unread = true
	}
	return read, ""
}

func (c *call) endData(shown protocol.Result, synthetic bool) protocol.ToolCallEndData {
	return protocol.ToolCallEndData{Call: c.Call, Result: shown, DurationMs: protocol.Milliseconds(time.Since(c.began)), Synthetic: synthetic}
}

// judgeResult decides what the client reads of a result.
func (r returned) judgeResult(read *result, decide func() (*protocol.Outcome, error)) relay.Decision {
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
		return r.pass(r.m.Line)
	}
	raw, err := read.write(decided, texts)
	if err != nil {
		return r.withhold("the result was withheld: " + err.Error())
	}
	return r.pass(r.m.With("result", raw))
}

func (c *call) pass(line []byte) relay.Decision {
	if !c.done() {
		return relay.Drop()
	}
	return relay.Pass(line)
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

func resultOf(raw protocol.RawMessage) (decided protocol.Result, err error) {
	err = json.Unmarshal(raw, &decided)
	return decided, err
}

// withhold gives the client a reason in place of the result.
func (r returned) withhold(reason string) relay.Decision {
	text, more := r.failed(protocol.CallError{Kind: protocol.CallFailed, Text: reason}, nil)
	return r.withholdAs(append([]string{text}, append(r.contexts, more...)...))
}

func (r returned) withholdAs(texts []string) relay.Decision {
	return r.pass(r.m.With("result", errorResult(texts, r.asked.modern)))
}

// replaced answers the call with the result that a hook gave in place of the tool, which
// hooks judge as any other.
func (c *call) replaced(o *protocol.Outcome) relay.Decision {
	given, err := resultOf(o.Replaced)
	if err == nil {
		if len(given.Content) == 0 {
			given.Content = protocol.TextContent("no content")
		}
		o, err = c.guard.events.Begin(c.ctx, protocol.ToolCallEnd, c.endData(given, true))()
	}
	items, texts := []protocol.RawMessage(nil), []string(nil)
	decided, isError := given, true
	switch {
	case err != nil:
		texts = []string{"the result was withheld: " + err.Error()}
	case o.Withholds():
		texts = append([]string{refusal(o)}, append(c.contexts, proxied.Contexts(o)...)...)
	default:
		if decided, _, err = decidedResult(o, given); err == nil {
			items, err = contentOf(decided.Content)
		}
		isError = decided.IsError
		if texts = append(c.contexts, proxied.Contexts(o)...); err != nil {
			items, texts, isError = nil, []string{"the result was withheld: " + err.Error()}, true
		}
	}
	for _, text := range texts {
		items = append(items, textItem(text))
	}
	if !c.progress.to(ending) || !c.done() {
		return relay.Drop()
	}
	return relay.Answer(relay.ResultLine(c.request.ID, madeResult(items, isError, c.asked.modern)))
}

// withError takes an answer that is an error of JSON-RPC. Hooks may change its text.
func (r returned) withError() relay.Decision {
	message := jsonspan.Get(r.m.Error, "message")
	text, more := r.failed(protocol.CallError{Kind: protocol.CallFailed, Text: jsonspan.Text(message)}, nil)
	line := r.m.Line
	for _, context := range append(r.contexts, more...) {
		text += "\n" + context
	}
	if text != jsonspan.Text(message) && r.m.Strict && jsonspan.Kind(r.m.Error) == '{' {
		line = r.m.With("error", relay.Replace(r.m.Error, "message", jsonspan.Quote(text)))
	}
	return r.pass(line)
}
