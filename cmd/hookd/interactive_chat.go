//go:build !lean

package main

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
)

// chat is a conversation on a terminal: what is said scrolls away above, and
// below stands what is going on and the line that the person writes. It does
// nothing itself: update takes what happens and says what is to be done, view
// shows how things stand.
type chat struct {
	width, height int
	color         bool
	now           func() time.Time

	run   *runView     // prints what a turn yields
	said  bytes.Buffer // what run printed: whole lines go up, the last stays below
	input textarea.Model

	running  bool
	aborting bool
	began    time.Time // of the turn
	turns    int
	frame    int
	queue    []string // what the person sent while the turn runs
	armed    time.Time
	ending   bool
	asked    []*asking // questions, the first one is shown

	history []string
	at      int    // place in history; len(history) is the draft
	draft   string // what was being written when the person went back in history
}

// What the chat is told besides keys, pastes and the size of the terminal.
type (
	yieldMsg struct{ agentloop.Yield }
	endedMsg struct {
		result agentloop.Result
		err    error
	}
	askMsg struct {
		question agentloop.Question
		reply    chan<- agentloop.Answer
	}
	withdrawMsg  struct{ reply chan<- agentloop.Answer }
	toldMsg      string // a command's answer
	noteMsg      string // of hookd itself, or of a hook that nobody waits for
	interruptMsg struct{}
)

// effect is something that the chat wants done.
type effect any

type (
	printEffect   string // lines that go up
	promptEffect  struct{ text, source string }
	commandEffect struct{ name, args string }
	abortEffect   struct{}
	quitEffect    struct{}
	answerEffect  struct {
		to     chan<- agentloop.Answer
		answer agentloop.Answer
	}
)

// againWithin is how soon a second press must follow to end hookd.
const againWithin = 2 * time.Second

func newChat(width int, color bool) *chat {
	c := &chat{color: color, now: time.Now, input: textarea.New()}
	c.input.ShowLineNumbers = false
	c.input.Prompt = "› "
	c.input.SetPromptFunc(2, func(line textarea.PromptInfo) string {
		if line.LineNumber == 0 {
			return "› "
		}
		return "  "
	})
	c.input.CharLimit = 0
	c.input.DynamicHeight, c.input.MinHeight, c.input.MaxHeight = true, 1, 8
	c.input.MaxContentHeight = 10000
	c.input.SetVirtualCursor(false)
	styles := c.input.Styles()
	styles.Focused, styles.Blurred = textarea.StyleState{}, textarea.StyleState{}
	c.input.SetStyles(styles)
	c.input.KeyMap.InsertNewline.SetKeys("alt+enter", "ctrl+j", "shift+enter")
	c.input.Focus()
	c.run = newRunView(&show.Printer{W: &c.said, Color: color, Width: width})
	c.run.folded = true
	c.resize(width, 24)
	return c
}

func (c *chat) resize(width, height int) {
	c.width, c.height = max(width, 20), max(height, 3)
	c.run.p.Width = c.width - 1 // a full last column makes some terminals wrap twice
	if c.run.flow != nil {
		c.run.flow.Width = c.run.p.Width
	}
	c.input.SetWidth(c.width - 1)
}

// update takes what happened and says what is to be done.
func (c *chat) update(msg any) (effects []effect) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		c.resize(msg.Width, msg.Height)
	case tickMsg:
		c.frame++
	case tea.KeyPressMsg:
		effects = c.key(msg)
	case tea.PasteMsg:
		c.input.InsertString(strings.ReplaceAll(strings.ReplaceAll(msg.Content, "\r\n", "\n"), "\r", "\n"))
	case interruptMsg:
		effects = c.abort()
	case yieldMsg:
		if err := c.run.see(msg.Yield); err != nil {
			c.run.line(show.Line(err.Error()))
		}
	case endedMsg:
		effects = c.ended(msg)
	case askMsg:
		c.asked = append(c.asked, newAsking(msg))
	case withdrawMsg:
		c.withdraw(msg.reply)
	case toldMsg:
		c.aside(string(msg))
	case noteMsg:
		c.aside(string(msg))
	}
	if up := c.drain(); up != "" {
		effects = append([]effect{printEffect(up)}, effects...)
	}
	return effects
}

// aside prints something between what a turn yields.
func (c *chat) aside(text string) {
	if text == "" {
		return
	}
	if c.run.flow == nil {
		c.run.p.Raw(text + "\n")
		return
	}
	open := c.said.String() // the text that streams goes on behind it
	c.said.Reset()
	c.said.WriteString(text + "\n" + open)
}

// drain takes the whole lines of what was printed.
func (c *chat) drain() string {
	text := c.said.String()
	end := strings.LastIndexByte(text, '\n')
	if end < 0 {
		return ""
	}
	c.said.Reset()
	c.said.WriteString(text[end+1:])
	return text[:end]
}

// ended is the end of a turn. What waits is the next one, unless the person
// aborted: it comes back to be looked at again.
func (c *chat) ended(msg endedMsg) []effect {
	aborted := c.aborting
	c.running, c.aborting, c.asked = false, false, nil
	if aborted {
		c.run.endLine()
		c.run.depth = 0
		c.run.line(c.run.p.In(show.Warn, "■ aborted"))
	} else {
		c.run.end(msg.result)
		if msg.err != nil && msg.result.StopReason == "" && c.run.untold(msg.err) {
			c.run.line(c.run.p.In(show.Bad, "✗ ") + oneLine(msg.err.Error()))
		}
	}
	c.run.begin(c.now())
	waiting := c.queue
	c.queue = nil
	switch {
	case len(waiting) == 0:
		return nil
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
	c.run.begin(c.began)
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

// command carries out a line that begins with a slash. One that is no command
// is a prompt, since skills are called so; one that is nearly one is neither.
func (c *chat) command(text string) (effects []effect, isCommand bool) {
	name, args, _ := strings.Cut(text, " ")
	if !strings.HasPrefix(name, "/") || strings.Contains(text, "\n") {
		return nil, false
	}
	name, args = name[1:], strings.TrimSpace(args)
	switch name {
	case "quit", "exit":
		return c.quit(), true
	case "show":
		c.show(args)
		return nil, true
	case "hooks", "help", "sessions":
		return []effect{commandEffect{name, args}}, true
	case "compact", "model":
		if c.running {
			c.aside(c.run.p.In(show.Warn, "!") + " /" + name + " is for when no turn runs")
			return nil, true
		}
		if name == "compact" {
			c.start()
		}
		return []effect{commandEffect{name, args}}, true
	}
	if near := nearCommand(name); near != "" {
		c.aside(fmt.Sprintf("%s there is no /%s; did you mean /%s? (/help lists all)", c.run.p.In(show.Warn, "!"), show.Line(name), near))
		return nil, true
	}
	return nil, false
}

// show prints what is folded behind a number; "" is the last.
func (c *chat) show(which string) {
	details := c.run.details
	n := len(details)
	if which != "" {
		if _, err := fmt.Sscanf(strings.TrimPrefix(which, "#"), "%d", &n); err != nil {
			n = -1
		}
	}
	if n < 1 || n > len(details) || details[n-1].body == "" && details[n-1].title == "" {
		c.aside(c.run.p.In(show.Warn, "!") + " nothing is folded behind #" + show.Line(which))
		return
	}
	d := details[n-1]
	c.aside(strings.TrimRight(c.run.p.In(show.Quiet, fmt.Sprintf("#%d ", n))+c.run.p.In(show.Strong, d.title)+"\n"+d.body, "\n"))
}
