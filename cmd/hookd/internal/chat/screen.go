package chat

import (
	"bytes"
	"strings"
	"time"

	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"

	"github.com/charmbracelet/x/ansi"
	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/question"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/runview"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/protocol"
)

// screen shows a dialog on the whole terminal: what is said scrolls away above, and below
// stands what goes on and the line that the person writes. It does nothing itself: update
// takes what happens and returns what is to be done, view shows how things stand.
type screen struct {
	talk          *dialog
	said          *bytes.Buffer // what was printed: whole lines go up, the last stays below
	width, height int
	small         bool // the terminal is smaller than these: what does not fit is cut off
	sized         bool // the terminal has said how large it is
	frame         int  // of the spinner

	draft
	asked []*asking // questions, the first one is shown

	known
}

// draft is what the person writes.
type draft struct {
	input   textarea.Model
	history history
	pasted  pastes
	wrote   time.Time // when a key that writes was pressed last
}

// known is what a screen looks up. Its zero value knows nothing.
type known struct {
	hookAtWork func() (name string, since time.Time) // that takes longest
	root       string                                // folder that files are named from
	choices    []string                              // for the word that the person asked to complete
}

// What only a screen wants done.
type (
	printEffect  string // lines that go up
	answerEffect struct {
		to     chan<- agentloop.Answer
		answer agentloop.Answer
	}
)

func newScreen(width int, color bool) *screen {
	s := &screen{said: &bytes.Buffer{}, draft: draft{input: textarea.New()}}
	s.input.ShowLineNumbers = false
	s.input.Prompt = "› "
	s.input.SetPromptFunc(2, func(line textarea.PromptInfo) string {
		if line.LineNumber == 0 {
			return "› "
		}
		return "  "
	})
	s.input.CharLimit = 0
	s.input.DynamicHeight, s.input.MinHeight, s.input.MaxHeight = true, 1, 8
	s.input.MaxContentHeight = 10000
	s.input.SetVirtualCursor(false)
	styles := s.input.Styles()
	styles.Focused, styles.Blurred = textarea.StyleState{}, textarea.StyleState{}
	s.input.SetStyles(styles)
	s.input.KeyMap.InsertNewline.SetKeys("alt+enter", "ctrl+j", "shift+enter")
	s.input.Focus()
	p := &show.Printer{W: s.said, Color: color, Width: width}
	s.talk = &dialog{now: time.Now, painter: painter{p: p, view: runview.NewTextPrinter(p, runview.Options{Folded: true}), say: s.aside}}
	s.talk.warn = func(mark, text string) { s.aside(marked(p, mark, text)) }
	s.resize(width, 24)
	return s
}

const leastWidth, leastHeight = question.LeastWidth, question.LeastHeight

// resize takes the size of the terminal. One that never knew its size has a usual one. One
// that had a size and has none now shows nothing.
func (s *screen) resize(width, height int) {
	if (width <= 0 || height <= 0) && !s.sized {
		width, height = 80, 24
	}
	s.width, s.height = max(width, leastWidth), max(height, leastHeight)
	s.small = s.width > width || s.height > height
	s.talk.view.Resize(s.width - 1) // a full last column makes some terminals wrap twice
	s.input.SetWidth(s.width - 1)
}

// update takes what happened and returns what is to be done.
func (s *screen) update(msg any) (effects []effect) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		s.sized = s.sized || msg.Width > 0 && msg.Height > 0
		s.resize(msg.Width, msg.Height)
	case tickMsg:
		s.frame++
	case tea.KeyPressMsg:
		effects = s.key(msg)
	case tea.PasteMsg:
		if len(s.asked) > 0 && s.asked[0].explaining {
			s.asked[0].why += msg.Content
			break
		}
		s.paste(msg.Content)
	case interruptMsg:
		effects = s.interrupt()
	case yieldMsg:
		s.talk.shown(msg.Update)
		if text := decidedPrompt(&msg.Update); text != "" {
			s.keep(text)
		}
	case endedMsg:
		effects = s.ended(msg)
	case askMsg:
		s.asked = append(s.asked, newAsking(msg))
	case withdrawMsg:
		s.withdraw(msg.reply)
	case toldMsg:
		s.aside(string(msg))
	case noteMsg:
		s.aside(string(msg))
	}
	if up := s.drain(); up != "" {
		effects = append([]effect{printEffect(up)}, effects...)
	}
	return effects
}

// decidedPrompt returns a prompt or a shell command of the person as hooks left it, "" for
// anything else.
func decidedPrompt(y *agentloop.Update) string {
	if y.Kind != agentloop.UpdateEvent || y.Outcome.Refused() || y.Event.Recipe != nil {
		return ""
	}
	switch y.Event.Event {
	case protocol.ToolCallEnd, protocol.ToolCallError:
		return decidedCommand(y)
	case protocol.PromptSubmit:
	default:
		return ""
	}
	var d protocol.PromptSubmitData
	if json.Unmarshal(y.Event.Data, &d) != nil || d.Source != "user" && d.Source != "follow-up" {
		return ""
	}
	return d.Prompt
}

// decidedCommand returns a shell command of the person that ran, "" for any other call.
func decidedCommand(y *agentloop.Update) string {
	var d protocol.ToolCallErrorData
	var args struct {
		Command string `json:"command"`
	}
	if json.Unmarshal(y.Event.Data, &d) != nil || d.Source != "user" || d.BlockedBy != nil ||
		json.Unmarshal(d.Args, &args) != nil || args.Command == "" {
		return ""
	}
	return "!" + args.Command
}

// keep writes a line to the history of later conversations, or says once that it cannot.
func (s *screen) keep(text string) {
	if err := s.history.keep(text); err != nil {
		s.history.kept = nil
		s.talk.warn("!", "what you send is not kept for later conversations: "+show.OneLine(err.Error()))
	}
}

// ended takes the end of a turn. What the person sent meanwhile and is not done now comes
// back into the line that is written.
func (s *screen) ended(msg endedMsg) []effect {
	s.asked = nil
	effects, back := s.talk.ended(msg)
	if len(back) > 0 {
		text := strings.Join(back, "\n")
		if typed := s.input.Value(); typed != "" {
			text += "\n" + typed
		}
		s.input.SetValue(text)
	}
	return effects
}

// aside prints something between what a turn shows. A text that streams goes on after it.
func (s *screen) aside(text string) {
	if text == "" {
		return
	}
	open := ""
	if _, streams := s.talk.view.Pending(); streams {
		open = s.said.String()
		s.said.Reset()
	}
	s.said.WriteString(text + "\n" + open)
}

// drain returns the whole lines of what was printed, and removes them.
func (s *screen) drain() string {
	text := s.said.String()
	end := strings.LastIndexByte(text, '\n')
	if end < 0 {
		return ""
	}
	s.said.Reset()
	s.said.WriteString(text[end+1:])
	lines := strings.Split(text[:end], "\n")
	for i, line := range lines {
		if width := show.Width(line); width > 0 && width%s.width == 0 {
			lines[i] = ansi.Hardwrap(line, s.width-1, true) // what erases the rest of a full line takes its last character
		}
	}
	return strings.Join(lines, "\n")
}
