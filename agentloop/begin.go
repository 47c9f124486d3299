package agentloop

import (
	"cmp"
	"context"
	"strings"

	"github.com/hookd-dev/hookd/protocol"
)

// begin fires session-start once per session, then takes the prompt in and
// starts the agent.
func (r *Run) begin(ctx context.Context, prompt Prompt) error {
	if err := r.sessionStart(ctx); err != nil {
		return err
	}
	text, err := r.promptSubmit(ctx, prompt)
	if err != nil {
		return err
	}
	return r.agentStart(ctx, text)
}

func (r *Run) sessionStart(ctx context.Context) error {
	l := r.loop
	if l.started {
		return l.refused
	}
	l.started = true
	r.lookForTools(ctx, true)
	v, err := r.fire(ctx, protocol.SessionStart, protocol.SessionStartData{
		Source: l.options.Source, Model: l.options.Model.Name(), Tools: namesOf(l.tools.offered()),
	})
	if err != nil {
		l.started = false // the next prompt begins the session
		return err
	}
	if !v.passed() {
		end := &ending{cause: "blocked", message: "no run in this session: " + v.told(), by: v.by()}
		if v.Failure != "" {
			end.cause = "failure"
		}
		l.refused = end
		return end
	}
	// A resumed session has the same context in its system text already.
	for _, part := range v.contextParts() {
		if !strings.Contains(l.system, part.Text) {
			if err := l.setSystem(strings.TrimLeft(l.system+"\n\n"+part.Text, "\n")); err != nil {
				return err
			}
		}
	}
	return nil
}

func namesOf(tools []protocol.Tool) []string {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	return names
}

// promptSubmit adds the prompt to the conversation and returns its text as it
// was decided.
func (r *Run) promptSubmit(ctx context.Context, prompt Prompt) (string, error) {
	fired := protocol.PromptSubmitData{Prompt: prompt.Text, Source: cmp.Or(prompt.Source, "user"), Attachments: prompt.Attachments}
	if fired.Attachments == nil {
		fired.Attachments = []protocol.Part{}
	}
	v, data, err := pass(ctx, r, protocol.PromptSubmit, fired)
	if err != nil {
		return "", err
	}
	return data.Prompt, r.addPrompt(data.Prompt, prompt, v.contextParts())
}

func (r *Run) addPrompt(text string, prompt Prompt, context protocol.Content) error {
	l := r.loop
	for _, message := range prompt.before {
		if err := l.add(message); err != nil {
			return err
		}
	}
	turn := 0
	if prompt.byUser() {
		turn = l.turn + 1
		l.forced = forcing{}
	}
	message := textMessage(protocol.RoleUser, text)
	message.Content = append(message.Content, prompt.Attachments...)
	message.Content = append(message.Content, prompt.behind...)
	message.Content = append(message.Content, context...)
	return l.addPrompt(message, turn)
}

func (p *Prompt) byUser() bool {
	return p.byHand || p.Source == "" || p.Source == "user" || p.Source == "follow-up"
}

func (r *Run) agentStart(ctx context.Context, prompt string) error {
	l := r.loop
	r.lookForTools(ctx, true)
	fired := protocol.AgentStartData{
		Prompt: prompt, System: l.system, Messages: l.messages, Tools: l.tools.offered(), Model: l.options.Model.Name(),
	}
	v, data, err := pass(ctx, r, protocol.AgentStart, fired)
	if err != nil {
		return err
	}
	if err := l.setSystem(data.System); err != nil {
		return err
	}
	if v.changes("tools") {
		if err := l.setTools(fired.Tools, data.Tools); err != nil {
			return err
		}
	}
	return r.obeyMessages(v, data.Messages)
}

// obeyMessages keeps the conversation that hooks changed, and their context
// behind it.
func (r *Run) obeyMessages(v *verdict, messages []protocol.Message) error {
	if v.changes("messages") {
		if err := r.loop.replace(messages); err != nil {
			return err
		}
	}
	return r.loop.addContext(v.contextParts())
}
