//go:build !lean

package main

import (
	"fmt"
	"strings"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/protocol"
)

// asking is a question to the person.
type asking struct {
	question agentloop.Question
	reply    chan<- agentloop.Answer
	chosen   int
}

// newAsking shows the refusal first: enter on a question that came up while the
// person was writing must not be a yes.
func newAsking(msg askMsg) *asking {
	a := &asking{question: msg.question, reply: msg.reply}
	for i, o := range msg.question.Options {
		if o.Kind == "reject-once" {
			a.chosen = i
		}
	}
	return a
}

// answerKey is a key while a question stands.
func (c *chat) answerKey(name string) []effect {
	a := c.asked[0]
	options := a.question.Options
	switch name {
	case "up", "left", "shift+tab":
		a.chosen = (a.chosen + len(options) - 1) % max(len(options), 1)
	case "down", "right", "tab":
		a.chosen = (a.chosen + 1) % max(len(options), 1)
	case "enter":
		return c.answer(a.chosen)
	case "shift+n":
		name = "N"
		fallthrough
	default:
		for i, o := range options {
			if optionKeys[o.Kind] == name || name == fmt.Sprint(i+1) {
				return c.answer(i)
			}
		}
	}
	return nil
}

func (c *chat) answer(i int) []effect {
	a := c.asked[0]
	c.asked = c.asked[1:]
	answer := agentloop.Answer{}
	if i < len(a.question.Options) {
		o := a.question.Options[i]
		answer.OptionID = o.OptionID
		c.aside(fmt.Sprintf("    %s %s: %s", c.run.p.In(show.Warn, "?"), askedWhat(&a.question), c.run.p.In(show.Strong, show.Line(o.Name))))
	}
	return []effect{answerEffect{a.reply, answer}}
}

// withdraw takes a question back that nobody waits for any more.
func (c *chat) withdraw(reply chan<- agentloop.Answer) {
	for i, a := range c.asked {
		if a.reply == reply {
			c.asked = append(c.asked[:i], c.asked[i+1:]...)
			return
		}
	}
}

// lines are the question as it is shown.
func (a *asking) lines(p *show.Printer) string {
	var b strings.Builder
	aside := show.Printer{W: &b, Color: p.Color, Width: p.Width}
	q := &a.question
	aside.Print("%s %s asks before: %s\n", p.In(show.Warn, "?"), p.In(show.Name, show.Line(q.AskedBy)), askedWhat(q))
	if q.Text != "" {
		aside.Paragraphs("  ", show.Plain, show.Middle(q.Text, 1000))
	}
	if q.Call != nil && q.Call.Kind == protocol.KindWrite {
		aside.Paragraphs("  ", show.Quiet, show.Middle(show.Compact(q.Call.Args), 1000))
	}
	for i, o := range q.Options {
		mark, tone := "  ", show.Plain
		if i == a.chosen {
			mark, tone = "▸ ", show.Strong
		}
		aside.Print("  %s%s\n", mark, p.In(tone, fmt.Sprintf("%s (%s)", show.Line(o.Name), optionKeys[o.Kind])))
	}
	return strings.TrimRight(b.String(), "\n")
}
