package agentloop

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/protocol"
)

// once are the answers a person may always give.
var once = []protocol.PermissionOption{
	{OptionID: "allow", Name: "Allow", Kind: "allow-once"},
	{OptionID: "reject", Name: "Reject", Kind: "reject-once"},
}

// answerKeeper is what is told of a person's answers; see [provider.Provider].
type answerKeeper = func(session string, request protocol.PermissionRequestData, option protocol.PermissionOption)

// offered are the answers to what a hook of the layer asks. "Always" needs
// somebody to keep the answer, and a managed hook's question is put each time.
func (o *Options) offered(call *protocol.Call, layer protocol.Layer) []protocol.PermissionOption {
	if len(o.answered) == 0 || layer == protocol.Managed {
		return once
	}
	what := "this command" // what the answer is kept for, as its keeper has it
	if call.Kind != protocol.KindShell {
		what = "every call of " + call.Name
	}
	return slices.Concat(once, []protocol.PermissionOption{
		{OptionID: "allow-always", Name: "Allow " + what + " in this session", Kind: "allow-always"},
		{OptionID: "reject-always", Name: "Reject " + what + " in this session", Kind: "reject-always"},
	})
}

// askPerson puts a question to a person and writes the answer into the outcome: it
// becomes allow or block, and says who answered. It returns the option that was
// chosen, nil if none was, and fails only when the context ended.
func (r *Run) askPerson(ctx context.Context, o *protocol.Outcome, question Question) (chosen *protocol.PermissionOption, err error) {
	reason := question.Text
	answered := &protocol.Answered{}
	o.Answered = answered
	refuse := func(by protocol.Answerer, reason string) {
		o.Action, o.Reason, answered.By = protocol.Block, reason, by
	}
	approver := r.loop.options.Approver
	if approver == nil {
		refuse(protocol.ByNobody, cmp.Or(question.alone, because("nobody is there to ask", reason)))
		return nil, nil
	}
	r.notify(ctx, "permission", question.notice())

	done, err := r.loop.options.floor.ask(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	limited, cancel := ctx, context.CancelFunc(func() {})
	if limit := r.loop.options.ApprovalTimeout; limit > 0 {
		limited, cancel = context.WithTimeout(ctx, limit)
	}
	defer cancel()
	defer r.pause()()
	answer, err := approver.Approve(limited, question)
	if err == nil {
		if i := slices.IndexFunc(question.Options, func(o protocol.PermissionOption) bool { return o.OptionID == answer.OptionID }); i >= 0 {
			chosen = &question.Options[i]
			answered.Option = chosen.Kind
		}
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case limited.Err() != nil:
		answered.Option = ""
		refuse(protocol.ByTimeout, because("nobody answered in time", reason))
		return nil, nil
	case err != nil:
		refuse(protocol.ByFault, because("the person could not be asked", reason))
	case chosen != nil && strings.HasPrefix(chosen.Kind, "allow-"):
		o.Action, answered.By = protocol.Allow, protocol.ByPerson
	case answer.Text != "":
		answered.Text = clipWords(answer.Text)
		refuse(protocol.ByPerson, "denied by the person: "+answered.Text)
	default:
		refuse(protocol.ByPerson, because("denied by the person", reason))
	}
	return chosen, nil
}

// longestWords bounds what a person says with a refusal, in bytes.
const longestWords = 16 << 10

// clipWords keeps a person's words within their bound.
func clipWords(text string) string {
	text = strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD")
	if len(text) <= longestWords {
		return text
	}
	return strings.ToValidUTF8(text[:longestWords], "") + " …"
}

// notice is the question on one line, for a person who is elsewhere: who asks, which
// tool, and what it is to do.
func (q *Question) notice() string {
	text := q.asks() + " before "
	if q.Call == nil {
		text += string(q.Event)
	} else {
		text += q.Call.Name + " " + brief(q.Call)
	}
	return because(strings.TrimSpace(text), q.Text)
}

// asks says who asks.
func (q *Question) asks() string {
	name, isHook := strings.CutPrefix(q.AskedBy, "hook:")
	if !isHook {
		return "hookd asks"
	}
	return WhoseHook(q.Layer, name) + " asks"
}

// WhoseHook names a hook with its layer, for a person.
func WhoseHook(layer protocol.Layer, name string) string {
	switch layer {
	case protocol.Managed:
		return "the machine's hook " + name
	case protocol.User:
		return "your hook " + name
	case protocol.Project:
		return "the project's hook " + name
	case protocol.Builtin:
		return "hookd's own hook " + name
	}
	return "the hook " + name
}

// brief is what a call is to do, shortened: its command or its path, else its args.
func brief(c *protocol.Call) string {
	var args struct {
		Command string `json:"command"`
		Path    string `json:"path"`
	}
	_ = json.Unmarshal(c.Args, &args)
	return shortened(cmp.Or(args.Command, args.Path, string(c.Args)), 200)
}

// shortened is the beginning of a text, with how much is left out. What has no sign of
// its own is written as a code.
func shortened(text string, most int) string {
	var b strings.Builder
	n := 0
	for _, c := range text {
		n++
		switch {
		case n > most:
		case unicode.IsGraphic(c) && (c == ' ' || !unicode.IsSpace(c)):
			b.WriteRune(c)
		default:
			fmt.Fprintf(&b, `\u{%x}`, c)
		}
	}
	if n > most {
		fmt.Fprintf(&b, " … %d more characters", n-most)
	}
	return b.String()
}

// because joins what happened with a hook's reason, if it gave one.
func because(what, reason string) string {
	if reason == "" {
		return what
	}
	return what + " (" + reason + ")"
}
