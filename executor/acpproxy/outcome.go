package acpproxy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/executor/proxied"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/acp"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
)

// lost says what of an outcome cannot be carried out between a client and an agent.
func lost(o *protocol.Outcome) (list []string) {
	lose := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	who := proxied.Who(o)
	switch o.Event.Event {
	case protocol.PromptSubmit:
		if o.Action == protocol.Ask {
			lose("%s wants a person to decide about a prompt, and an ACP proxy cannot ask that: refused", who)
		}
	case protocol.ToolCallStart, protocol.PermissionRequest, protocol.ToolCallEnd:
		for _, c := range o.Context {
			lose("the hook %s gives text to the model, and an ACP proxy cannot at %s", c.Hook, o.Event.Event)
		}
	case protocol.ToolCallError:
		if len(o.Changes) > 0 || len(o.Context) > 0 {
			lose("hooks change what the model reads of a failed call, and an ACP proxy cannot")
		}
	case protocol.AgentEnd:
		if o.Action == protocol.Continue {
			lose("%s wants another run after the end of this one, and an ACP proxy cannot begin it: answer agent-stop", who)
		}
	}
	if o.Callback != nil {
		lose("%s asked for the recipe %q, which an ACP proxy cannot run", who, o.Callback.Name)
	}
	return list
}

// losing has another function say what is lost of an outcome.
func losing(lost func(*protocol.Outcome) []string) func(*protocol.Event) {
	return func(event *protocol.Event) { event.Lost = lost }
}

// lostUnasked says what is lost of the outcome of a call that the agent began without being
// allowed to: how says in which way. Of one that has failed already nothing is cancelled.
func lostUnasked(runs bool, how string) func(*protocol.Outcome) []string {
	then := ": it may have been done; the turn is cancelled"
	if !runs {
		then = " and that has failed"
	}
	return func(o *protocol.Outcome) []string {
		list := lost(o)
		if o.Action == protocol.Ask {
			list = append(list, proxied.Who(o)+" wants a person to decide about a call that the agent began "+how+": refused")
		}
		if o.Refused() {
			list = append(list, proxied.Who(o)+" refuses a call that the agent began "+how+then)
		} else if len(o.Changes) > 0 || o.Replaced != nil {
			list = append(list, "hooks change a call that the agent began "+how+", and an ACP proxy cannot"+then)
		}
		return list
	}
}

// lostOfResult says what is lost of the outcome of a result that the agent has already.
func lostOfResult(o *protocol.Outcome) []string {
	list := lost(o)
	if o.Withholds() || len(o.Changes) > 0 {
		list = append(list, fmt.Sprintf("%s withholds or changes a result that the agent has already, and an ACP proxy cannot", proxied.Who(o)))
	}
	return list
}

// refusal is what the agent reads of a refusal.
func refusal(o *protocol.Outcome) string {
	if o.Action == protocol.Ask && o.Failure == "" {
		return "a person has to decide this, and nobody can be asked here: " + o.RefusalText()
	}
	return o.RefusalText()
}

// tell shows the client what hooks did. A client that shows notices gets one, any other a
// piece of a message.
func (s *session) tell(words string) {
	if !s.guard.notices.Load() {
		s.say(words)
		return
	}
	update := object(texts("sessionUpdate", string(acp.NoticeGiven)), texts("severity", "warning"), texts("title", "hookd"), texts("description", text.Visible(words)))
	s.guard.send(relay.Client, updateOf(s.id, update))
}

// say shows the client words as a piece of a message. They stand apart from what the agent says:
// each line is quoted, since the words may hold what somebody else wrote, and begins a line.
func (s *session) say(words string) {
	quoted := "> hookd: " + strings.ReplaceAll(text.Visible(words), "\n", "\n> ") + "\n\n"
	s.mu.Lock()
	for _, t := range s.work.turns {
		if said := t.response.Bytes(); t.running && len(said) > 0 && said[len(said)-1] != '\n' {
			quoted = "\n\n" + quoted
			break
		}
	}
	s.mu.Unlock()
	chunk := object(texts("sessionUpdate", string(acp.AgentMessageChunk)), member{"content", textBlock(quoted)})
	s.guard.send(relay.Client, updateOf(s.id, chunk))
}

func updateOf(session string, update protocol.RawMessage) []byte {
	return notification(acp.SessionUpdate, object(texts("sessionId", session), member{"update", update}))
}

func textBlock(words string) protocol.RawMessage {
	return object(texts("type", "text"), texts("text", words))
}

// question is a question about a call, which the person is to answer, and hooks may.
type question struct {
	call    *protocol.Call
	by      *protocol.Asker // the hook that asks, nil: the agent
	text    string          // what the agent asks
	options []option
	person  func() (answer, error) // asks the person. An error gives the question up
}

// answer is what came back to a question. The zero answer is none: the person is not asked any more.
type answer struct {
	yes    bool
	by     protocol.Answerer
	option string // kind of what the person chose, in our words, "" if nothing
	words  string // why it is no
}

var errUnanswered = errors.New("the question was not answered")

// answerOf reads what the person at the client chose.
func answerOf(m *relay.Message, options []option) answer {
	chosen := jsonspan.Text(jsonspan.Find(m.Result, "/outcome/optionId"))
	at := slices.IndexFunc(options, func(o option) bool { return o.id == chosen })
	switch {
	case at < 0 && jsonspan.Text(jsonspan.Find(m.Result, "/outcome/outcome")) == "cancelled":
		return answer{by: protocol.ByPerson, words: errUnanswered.Error()}
	case at < 0:
		return answer{by: protocol.ByFault, words: errUnanswered.Error()}
	case options[at].kind == "reject_once" || options[at].kind == "reject_always":
		return answer{by: protocol.ByPerson, option: options[at].ourKind(), words: "the person did not allow it"}
	}
	return answer{yes: true, by: protocol.ByPerson, option: options[at].ourKind()}
}

// put has hooks answer a question, and the person where they leave it open. What the person says is
// part of the decided event. Only a grant answers the question: a project's hooks never speak for the
// person, and none speaks for one of a higher layer.
func (s *session) put(ctx context.Context, q *question) (*protocol.Outcome, error) {
	data := protocol.PermissionRequestData{Call: *q.call, AskedBy: "tool", Text: q.text, Options: []protocol.PermissionOption{}}
	if q.by != nil {
		data.AskedBy, data.AskedByLayer, data.Text = "hook:"+q.by.Name, q.by.Layer, q.by.Reason
	}
	for _, offered := range q.options {
		data.Options = append(data.Options, protocol.PermissionOption{OptionID: offered.id, Name: offered.name, Kind: offered.ourKind()})
	}
	return s.Begin(ctx, protocol.PermissionRequest, data, func(event *protocol.Event) {
		event.ResolveAsk = func(_ context.Context, o *protocol.Outcome) error {
			if !s.leavesOpen(q, o) {
				if o.Answered == nil && o.By != nil {
					o.Answered = &protocol.Answered{By: protocol.ByHook, Name: *o.By}
				}
				return nil
			}
			came, err := q.person()
			if err == nil && came.by != "" {
				came.decide(q, o)
			}
			return err
		}
	})()
}

// leavesOpen reports whether hooks leave a question to the person.
func (s *session) leavesOpen(q *question, o *protocol.Outcome) bool {
	least := protocol.Origin{Layer: protocol.User}
	if q.by != nil {
		if origin := protocol.OriginOf(q.by.Layer, q.by.Name); origin.Compare(least) > 0 {
			least = origin
		}
	}
	if o.Action != protocol.Allow || o.DecidedBy().Compare(least) < 0 {
		return o.Action != protocol.Block && o.Action != protocol.Stop
	}
	if _, is := choose(q.options, "allow_once"); is {
		return false
	}
	s.guard.options.note(fmt.Sprintf("%s allows %s, and the agent offers no option to allow it once: the person is asked", proxied.Who(o), what(q.call)))
	return true
}

// decide writes the answer into the outcome of the permission-request.
func (a answer) decide(q *question, o *protocol.Outcome) {
	o.By, o.Action, o.Reason = nil, protocol.Block, a.words
	o.Answered = &protocol.Answered{By: a.by, Option: a.option}
	why := ""
	if q.by != nil {
		o.By, why = &q.by.Name, q.by.Reason
	}
	switch {
	case a.yes:
		o.Action, o.Reason = protocol.Allow, why
	case why != "":
		o.Reason += " (" + why + ")"
	}
}
