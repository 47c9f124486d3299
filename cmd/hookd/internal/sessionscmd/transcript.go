package sessionscmd

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/agentloop/store"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/report"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
)

func (cmd *Commands) show() *cobra.Command {
	var full bool
	c := &cobra.Command{
		Use:   "show ID",
		Short: "Show the conversation of a session",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			transcript, err := cmd.transcript(args[0])
			if err != nil {
				return err
			}
			if cmd.Console.JSON {
				return cmd.printTranscript(transcript)
			}
			cmd.showTranscript(transcript, full)
			return nil
		},
		ValidArgsFunction: Complete,
	}
	c.Flags().BoolVar(&full, "full", false, "show also what a compaction or a hook replaced")
	cmd.Console.JSONFlag(c)
	return c
}

// transcript reads a session by a prefix of its ID. The session may be in use.
func (cmd *Commands) transcript(prefix string) (*store.Transcript, error) {
	state, err := places.StateDir()
	if err != nil {
		return nil, err
	}
	id, err := Find(places.Conversations(state), prefix)
	if err != nil {
		return nil, err
	}
	transcript, err := store.Read(places.Conversations(state), id)
	if err != nil {
		return nil, Fault(err)
	}
	return transcript, nil
}

// printTranscript prints a session as an object: its header, and the
// conversation as a resumed run would go on with it.
func (cmd *Commands) printTranscript(t *store.Transcript) error {
	state := t.State()
	if state.Messages == nil {
		state.Messages = []protocol.Message{}
	}
	return cmd.Console.PrintJSON(struct {
		ID       string             `json:"id"`
		Created  time.Time          `json:"created"`
		Project  string             `json:"project"`
		Model    string             `json:"model"`
		System   *string            `json:"system"`
		Turns    int                `json:"turns"`
		Messages []protocol.Message `json:"messages"`
	}{t.Header.ID, t.Header.Created, t.Header.Project, state.Model, state.System, state.Turn, state.Messages})
}

func (cmd *Commands) showTranscript(t *store.Transcript, full bool) {
	p, state := cmd.Console.Out, t.State()
	p.Print("%s %s\n", p.In(show.Strong, "session "+show.Line(t.Header.ID)),
		p.In(show.Quiet, fmt.Sprintf("begun %s, %s, model %s", t.Header.Created.Local().Format("2006-01-02 15:04"), text.Count(state.Turn, "turn"), show.Line(state.Model))))
	if t.Header.Project != "" {
		p.Print("%s\n", p.In(show.Quiet, show.Line(t.Header.Project)))
	}
	for _, piece := range pieces(t, full) {
		switch {
		case piece.replaced > 0 && full:
			p.Print("\n%s\n", p.In(show.Warn, fmt.Sprintf("── the %d messages above were replaced ──", piece.replaced)))
		case piece.replaced > 0:
			p.Print("\n%s\n", p.In(show.Quiet, fmt.Sprintf("%d earlier messages were replaced; --full shows them", piece.replaced)))
		default:
			showMessage(p, &piece.message)
		}
	}
}

// piece of a transcript: a message, or the place where the conversation was
// replaced.
type piece struct {
	message  protocol.Message
	replaced int // messages that are not in the conversation any more
}

// pieces returns the conversation as it stands, or with full all that was ever in it, each
// message once.
func pieces(t *store.Transcript, full bool) (list []piece) {
	if !full {
		state := t.State()
		standing := map[string]bool{}
		for _, m := range state.Messages {
			standing[m.ID] = true
		}
		gone := 0
		for _, m := range everSaid(t) {
			if m.replaced == 0 && !standing[m.message.ID] {
				gone++
			}
		}
		if gone > 0 {
			list = append(list, piece{replaced: gone})
		}
		for _, m := range state.Messages {
			list = append(list, piece{message: m})
		}
		return list
	}
	return everSaid(t)
}

func everSaid(t *store.Transcript) (list []piece) {
	said := map[string]bool{}
	standing := 0
	for _, e := range t.Entries {
		switch {
		case e.Kind == store.Message && e.Message != nil:
			said[e.Message.ID] = true
			standing++
			list = append(list, piece{message: *e.Message})
		case e.Kind == store.Conversation:
			if standing > 0 {
				list = append(list, piece{replaced: standing})
			}
			standing = len(e.Messages)
			for _, m := range e.Messages {
				if !said[m.ID] {
					said[m.ID] = true
					list = append(list, piece{message: m})
				}
			}
		}
	}
	return list
}

// showMessage prints a message with everything in it visible.
func showMessage(p *show.Printer, m *protocol.Message) {
	if m.Role != protocol.RoleTool {
		p.Print("\n%s\n", p.In(show.Name, "● "+string(m.Role)))
	}
	for _, part := range m.Content {
		switch part.Type {
		case protocol.PartText:
			tone := show.Plain
			if part.Hook != "" {
				tone = show.Quiet
			}
			p.Paragraphs("  ", tone, part.Text)
		case protocol.PartThinking:
			p.Paragraphs("  ", show.Quiet, part.Text)
		case protocol.PartToolCall:
			p.Print("  %s %s\n", p.In(show.Strong, "→ "+show.Line(part.Name)), show.Line(show.Shorten(report.ArgsLine(part.Args), 400)))
		case protocol.PartToolResult:
			mark := p.In(show.Good, "✓")
			if part.IsError {
				mark = p.In(show.Bad, "✗")
			}
			text := strings.TrimRight(part.Content.Text(), "\n")
			if text == "" {
				text = "no output"
			}
			p.Print("  %s\n", mark)
			p.Indented("    ", show.Quiet, show.Visible(text))
		default:
			p.Print("  %s\n", p.In(show.Quiet, "["+show.Line(string(part.Type))+" "+show.Line(part.MediaType)+"]"))
		}
	}
}
