package chat

import (
	"strings"
	"time"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
)

// ended is the end of a turn. What waits is the next one, unless the person
// aborted: it comes back to be looked at again.
func (c *chat) ended(msg endedMsg) []effect {
	aborted := c.aborting
	c.running, c.aborting, c.asked = false, false, nil
	if aborted {
		c.run.EndLine()
		c.run.Depth = 0
		c.run.Line(c.run.P.In(show.Warn, "■ aborted"))
	} else {
		c.run.End(msg.result)
		if msg.err != nil && msg.result.StopReason == "" && c.run.Untold(msg.err) {
			c.run.Line(c.run.P.In(show.Bad, "✗ ") + show.OneLine(msg.err.Error()))
		}
	}
	c.run.Begin(c.now())
	waiting := c.queue
	c.queue = nil
	switch {
	case len(waiting) == 0 && c.ending:
		return nil
	case len(waiting) == 0:
		return []effect{idleEffect{msg.result}}
	case aborted || msg.err != nil:
		text := strings.Join(waiting, "\n")
		if typed := c.input.Value(); typed != "" {
			text += "\n" + typed
		}
		c.input.SetValue(text)
		return nil
	}
	c.queue = waiting[1:]
	return c.prompt(waiting[0], "follow-up")
}

func (c *chat) prompt(text, source string) []effect {
	c.start()
	c.turns++
	return []effect{promptEffect{text, source}}
}

func (c *chat) start() {
	c.running, c.began = true, c.now()
	c.run.Begin(c.began)
}

// send is the enter key.
func (c *chat) send() []effect {
	text := strings.TrimSpace(c.input.Value())
	if text == "" {
		return nil
	}
	c.input.Reset()
	if len(c.history) == 0 || c.history[len(c.history)-1] != text {
		c.history = append(c.history, text)
	}
	c.at, c.draft = len(c.history), ""
	if effects, isCommand := c.command(text); isCommand {
		return effects
	}
	if c.running {
		c.queue = append(c.queue, text)
		return nil
	}
	return c.prompt(text, "user")
}

// abort is the first press of esc or ctrl-c, or a signal: it ends the turn, or
// what is being written; the second one ends hookd.
func (c *chat) abort() []effect {
	again := c.now().Sub(c.armed) < againWithin
	c.armed = c.now()
	switch {
	case again:
		return c.quit()
	case c.running && !c.aborting:
		c.aborting = true
		return []effect{abortEffect{}}
	case c.running:
		return nil
	case c.input.Value() != "":
		c.input.Reset()
		c.armed = time.Time{}
	}
	return nil
}

func (c *chat) quit() []effect {
	c.ending = true
	return []effect{quitEffect{}}
}
