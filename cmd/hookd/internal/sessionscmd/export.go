package sessionscmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/agentloop/store"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/protocol"
)

func (cmd *Commands) export() *cobra.Command {
	var full bool
	c := &cobra.Command{
		Use:   "export ID",
		Short: "Print the conversation of a session as markdown, or with --json a message on each line",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			transcript, err := cmd.transcript(args[0])
			if err != nil {
				return err
			}
			list := pieces(transcript, full)
			if !cmd.Console.JSON {
				cmd.Console.Out.Raw(markdown(transcript, list))
				return nil
			}
			for i := range list {
				if list[i].replaced > 0 {
					continue
				}
				if err := cmd.Console.PrintJSON(&list[i].message); err != nil {
					return err
				}
			}
			return nil
		},
		ValidArgsFunction: Complete,
	}
	c.Flags().BoolVar(&full, "full", false, "print also what a compaction or a hook replaced")
	cmd.Console.JSONFlag(c)
	return c
}

// markdown writes a conversation as a document. What models, tools and hooks
// wrote has control characters visible, and cannot end the block it is in.
func markdown(t *store.Transcript, list []piece) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Session %s\n\n", t.Header.ID)
	fmt.Fprintf(&b, "- begun: %s\n", t.Header.Created.UTC().Format("2006-01-02 15:04 MST"))
	if t.Header.Project != "" {
		fmt.Fprintf(&b, "- project: %s\n", code(t.Header.Project))
	}
	if model := t.State().Model; model != "" {
		fmt.Fprintf(&b, "- model: %s\n", code(model))
	}
	for i := range list {
		if n := list[i].replaced; n > 0 {
			fmt.Fprintf(&b, "\n---\n\n*%d messages were replaced.*\n", n)
			continue
		}
		markdownMessage(&b, &list[i].message)
	}
	return b.String()
}

func markdownMessage(b *strings.Builder, m *protocol.Message) {
	switch m.Role {
	case protocol.RoleUser:
		b.WriteString("\n## User\n")
	case protocol.RoleAssistant:
		b.WriteString("\n## Assistant\n")
	}
	for _, part := range m.Content {
		b.WriteString("\n")
		switch part.Type {
		case protocol.PartText:
			b.WriteString(strings.TrimSpace(show.Visible(part.Text)) + "\n")
		case protocol.PartThinking:
			quoted := strings.ReplaceAll(strings.TrimSpace(show.Visible(part.Text)), "\n", "\n> ")
			b.WriteString("> " + quoted + "\n")
		case protocol.PartToolCall:
			fmt.Fprintf(b, "**%s**\n\n%s", show.Line(part.Name), fenced("json", show.Pretty(part.Args)))
		case protocol.PartToolResult:
			head := "Result"
			if part.IsError {
				head = "Error"
			}
			fmt.Fprintf(b, "%s:\n\n%s", head, fenced("", part.Content.Text()))
		default:
			fmt.Fprintf(b, "*%s %s*\n", show.Line(string(part.Type)), show.Line(part.MediaType))
		}
	}
}

// fenced returns a code block whose fence is longer than any in the text.
func fenced(language, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + language + "\n" + strings.TrimRight(show.Visible(text), "\n") + "\n" + fence + "\n"
}

func code(text string) string { return "`" + strings.ReplaceAll(show.Line(text), "`", "'") + "`" }
