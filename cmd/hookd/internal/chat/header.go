package chat

import (
	"bytes"
	"fmt"
	"strings"
	"sync"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/conversation"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/report"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
)

// header is what stands above a conversation, and again where a command changed it.
type header struct {
	c *conversation.Conversation

	mu    sync.Mutex
	shown string // without colour
}

// draw returns the header: the model, the folder, the hooks, and what waits to be allowed.
func (h *header) draw(p *show.Printer) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.shown = headerLines(&show.Printer{}, h.c)
	return headerLines(p, h.c)
}

// redraw returns the header if it has changed since it was drawn last, else "".
func (h *header) redraw(p *show.Printer) string {
	h.mu.Lock()
	before := h.shown
	h.mu.Unlock()
	if headerLines(&show.Printer{}, h.c) == before {
		return ""
	}
	return h.draw(p)
}

func headerLines(p *show.Printer, c *conversation.Conversation) string {
	line := p.In(show.Strong, "hookd") + p.In(show.Quiet, " · ") + show.Line(model.Origin(c.Model)) + p.In(show.Quiet, " · "+show.Line(show.Tilde(c.Engine.Root)))
	w := c.Engine.Watcher()
	if w == nil {
		return line
	}
	return line + "\n" + hooksLine(p, w.Snapshot())
}

// hooksLine says how many hooks are asked, and what waits for the person.
func hooksLine(p *show.Printer, s *loader.Snapshot) string {
	ready := 0
	for _, h := range s.Hooks {
		if h.Status == executor.Ready {
			ready++
		}
	}
	line := p.In(show.Quiet, text.Count(ready, "hook"))
	if guards := engine.WaitingGuards(s); len(guards) > 0 {
		refuse := " refuses until you look at it: /trust"
		if len(guards) > 1 {
			refuse = " refuse until you look at them: /trust"
		}
		line += p.In(show.Quiet, " · ") + p.In(show.Warn, text.Count(len(guards), "guard")+refuse)
	}
	waiting := len(s.Unallowed) + len(s.UnallowedResources)
	for _, file := range s.Settings {
		if file.State == loader.SettingsUntrusted || file.State == loader.SettingsChanged {
			waiting++
		}
	}
	for i := range s.Resources {
		if m := &s.Resources[i]; m.Kind == loader.KindInstructions && m.Layer == protocol.Project && m.Use != "" {
			line += p.In(show.Quiet, " · "+show.Line(m.Name))
		}
	}
	if waiting > 0 {
		line += p.In(show.Quiet, " · ") + p.In(show.Warn, "not allowed yet: "+text.Count(waiting, "item")+" of this project: /trust")
	}
	return line
}

// Bounds of what is shown of a conversation that goes on.
const (
	replayedPrompts = 2
	replayedPrompt  = 4 // lines of a prompt
	replayedLines   = 6 // of an answer
)

// replay returns the end of a conversation that goes on: the last prompts, and the answers
// to them. It is "" for a new one.
func replay(p *show.Printer, id string, messages []protocol.Message) string {
	from, prompts := len(messages), 0
	for i := len(messages) - 1; i >= 0 && prompts < replayedPrompts; i-- {
		if messages[i].Role == protocol.RoleUser && !agentloop.IsPersonCall(&messages[i]) && said(&messages[i]) != "" {
			from, prompts = i, prompts+1
		}
	}
	if prompts == 0 {
		return ""
	}
	var out bytes.Buffer
	painter := &show.Printer{W: &out, Color: p.Color, Width: p.Width}
	if from > 0 {
		painter.Print("%s\n", p.In(show.Quiet, fmt.Sprintf("… %s before; hookd sessions show %s", text.Count(from, "message"), id)))
	}
	for i := range messages[from:] {
		m := &messages[from+i]
		if agentloop.IsPersonCall(m) {
			painter.Print("%s %s\n", p.In(show.Quiet, "!"), show.Line(show.Shorten(report.ArgsLine(m.Content[0].Args), 200)))
			continue
		}
		body := said(m)
		if body == "" {
			continue
		}
		switch m.Role {
		case protocol.RoleUser:
			painter.Raw(beginning(p, p.In(show.Quiet, "›"), body, replayedPrompt, show.Strong))
		case protocol.RoleAssistant:
			painter.Raw(beginning(p, p.In(show.Quiet, "●"), body, replayedLines, show.Quiet))
		}
	}
	return strings.TrimRight(out.String(), "\n")
}

// beginning returns the first lines of a text, after a mark, and how many more there are.
func beginning(p *show.Printer, mark, body string, most int, tone show.Tone) string {
	lines := strings.Split(body, "\n")
	more := ""
	if left := len(lines) - most; left > 1 { // the line that says so takes as much room as one
		lines, more = lines[:most], fmt.Sprintf("\n… %s more", text.Count(left, "line"))
	}
	flow := show.NewFlow(p.Width, 2, "  ", func(s string) string { return p.In(tone, s) })
	return mark + " " + flow.Write(show.Visible(show.Shorten(strings.Join(lines, "\n"), 2000)+more)) + flow.End() + "\n"
}

// said returns what a person or the model said in a message, without what hooks added.
func said(m *protocol.Message) string {
	var parts []string
	for _, part := range m.Content {
		if part.Type == protocol.PartText && part.Hook == "" {
			parts = append(parts, part.Text)
		}
	}
	return strings.TrimSpace(strings.Join(parts, "\n"))
}
