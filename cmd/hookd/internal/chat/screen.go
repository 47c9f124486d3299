package chat

import (
	"bytes"
	"strings"
	"time"

	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/runview"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
)

// chat is a conversation on a terminal: what is said scrolls away above, and
// below stands what is going on and the line that the person writes. It does
// nothing itself: update takes what happens and says what is to be done, view
// shows how things stand.
type chat struct {
	width, height int
	small         bool // the terminal is smaller than these: what does not fit is cut off
	color         bool
	now           func() time.Time

	run   *runview.View // prints what a turn yields
	said  bytes.Buffer  // what run printed: whole lines go up, the last stays below
	input textarea.Model

	running  bool
	aborting bool
	began    time.Time // of the turn
	turns    int
	frame    int
	queue    []string // what the person sent while the turn runs
	armed    time.Time
	wrote    time.Time // when a key that writes was pressed last
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
	idleEffect    struct{ last agentloop.Result } // nothing is to be done
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
	c.run = runview.New(&show.Printer{W: &c.said, Color: color, Width: width})
	c.run.Folded = true
	c.resize(width, 24)
	return c
}

// The smallest terminal on which a question can be judged.
const leastWidth, leastHeight = 20, 3

func (c *chat) resize(width, height int) {
	if width <= 0 || height <= 0 { // a terminal that does not know its size
		width, height = 80, 24
	}
	c.width, c.height = max(width, leastWidth), max(height, leastHeight)
	c.small = c.width > width || c.height > height
	c.run.P.Width = c.width - 1 // a full last column makes some terminals wrap twice
	if c.run.Flow != nil {
		c.run.Flow.Width = c.run.P.Width
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
		if len(c.asked) > 0 && c.asked[0].explaining {
			c.asked[0].why += msg.Content
			break
		}
		c.input.InsertString(strings.ReplaceAll(strings.ReplaceAll(msg.Content, "\r\n", "\n"), "\r", "\n"))
	case interruptMsg:
		effects = c.abort()
	case yieldMsg:
		if err := c.run.See(msg.Yield); err != nil {
			c.run.Line(show.Line(err.Error()))
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
	if c.run.Flow == nil {
		c.run.P.Raw(text + "\n")
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
