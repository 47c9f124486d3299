package sessionscmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/agentloop/store"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
)

// Commands are the commands below hookd sessions.
type Commands struct {
	Console *cli.Console
	Project *places.Project
}

// Sessions returns hookd sessions.
func (cmd *Commands) Sessions() *cobra.Command {
	c := &cobra.Command{
		Use:   "sessions",
		Short: "List, show, export and remove the conversations of hookd run",
		Long: `List, show, export and remove the conversations of hookd run.

Any unique prefix of a session ID is accepted.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	for _, sub := range []*cobra.Command{cmd.list(), cmd.show(), cmd.export(), cmd.remove()} {
		sub.Args = cli.AsUsage(sub.Args)
		c.AddCommand(sub)
	}
	return c
}

// Find returns the ID of the session whose ID begins with prefix. It is a fault if there
// is none, or several.
func Find(folder, prefix string) (string, error) {
	if strings.TrimSpace(prefix) == "" {
		return "", cli.Usage("usage", "the session's ID is empty", "hookd sessions list shows the sessions of this project")
	}
	id, err := store.Find(folder, prefix)
	var several *store.AmbiguousError
	switch {
	case errors.As(err, &several):
		short := store.ShortLength(several.IDs, len(prefix)+1)
		names := make([]string, len(several.IDs))
		for i, id := range several.IDs {
			names[i] = id[:min(short, len(id))]
		}
		return "", cli.Usage("ambiguous-session", err.Error(), "one of: "+show.Shorten(strings.Join(names, " "), 200))
	case errors.Is(err, store.ErrNotFound):
		return "", cli.Usage("no-session", "there is no session "+show.Line(prefix), "hookd sessions list --all shows all")
	case err != nil:
		return "", cli.Failed("sessions", err, "")
	}
	return id, nil
}

// Fault returns the fault of a session that cannot be used.
func Fault(err error) *cli.Fault {
	var damage *store.DamageError
	switch {
	case errors.As(err, &damage) && errors.Is(err, store.ErrNewer):
		return cli.Failed("session", fmt.Errorf("session %s: %w (%s)", damage.Session, damage.Err, damage.Path), "go on with the newer hookd, or begin a new session")
	case errors.As(err, &damage):
		return cli.Failed("damaged-session", damage, DamageHint(damage.Session))
	case errors.Is(err, store.ErrInUse):
		return cli.Failed("session", err, "another hookd run, or an editor, has it open; end or close it there, or begin a new session")
	}
	hint := ""
	if errors.Is(err, fs.ErrPermission) {
		hint = "its file and its lock must be yours, readable and writable (chown, chmod u+rw); or begin a new session"
	}
	return cli.Failed("session", err, hint)
}

// DamageHint returns what to do about a damaged session.
func DamageHint(id string) string {
	return "mend that line of the file, or remove the session: hookd sessions rm " + id
}

func (cmd *Commands) list() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List the sessions of this project, or of this folder, the one used last first",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			state, err := places.StateDir()
			if err != nil {
				return err
			}
			list, err := Here(c.Context(), cmd.Project, places.Conversations(state), all)
			if err != nil {
				return err
			}
			if cmd.Console.JSON {
				return cmd.printSessions(list)
			}
			return ShowTable(cmd.Console.Out, places.Conversations(state), list, all)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "list those of all projects")
	cmd.Console.JSONFlag(c)
	return c
}

// Here returns the sessions of the current project, outside of one those of the current
// folder, or all. Of an old session outside of a project the folder is not known: it is here
// in each of them.
func Here(ctx context.Context, project *places.Project, folder string, all bool) ([]store.Info, error) {
	list, err := store.List(folder)
	if err != nil {
		return nil, cli.Failed("sessions", err, "")
	}
	if all {
		return list, nil
	}
	root, err := project.Root(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := project.WorkingDir()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list, func(s store.Info) bool {
		return s.Project != root || s.Folder != "" && !isSame(s.Folder, dir)
	}), nil
}

// isSame reports whether two paths lead to one folder.
func isSame(one, other string) bool {
	first, err := os.Stat(one)
	if err != nil {
		return one == other
	}
	second, err := os.Stat(other)
	return err == nil && os.SameFile(first, second)
}

// sessionLine is a session in sessions list --json.
type sessionLine struct {
	ID       string          `json:"id"`
	Created  *time.Time      `json:"created"` // null where the file is damaged
	Last     time.Time       `json:"last"`
	Project  string          `json:"project"`
	Model    string          `json:"model"`
	Prompt   string          `json:"prompt"` // the first one
	Messages int             `json:"messages"`
	Turns    int             `json:"turns"`
	State    store.Condition `json:"state"`
	Damage   string          `json:"damage,omitzero"`
	Path     string          `json:"path"`
}

func (cmd *Commands) printSessions(list []store.Info) error {
	lines := make([]sessionLine, len(list))
	for i, info := range list {
		lines[i] = sessionLine{
			ID: info.ID, Last: info.Last, Project: info.Project, Model: info.Model, Prompt: info.First,
			Messages: info.Messages, Turns: info.Turns, State: info.Condition, Path: info.Path,
		}
		if !info.Created.IsZero() {
			lines[i].Created = &info.Created
		}
		if info.Damage != nil {
			lines[i].Damage = info.Damage.Error()
		}
	}
	return cmd.Console.PrintJSON(lines)
}

// ShowTable prints a table of sessions.
func ShowTable(p *show.Printer, folder string, list []store.Info, all bool) error {
	if len(list) == 0 {
		text := "no sessions in this project yet; hookd run begins one"
		if all {
			text = "no sessions yet; hookd run begins one"
		}
		p.Print("%s\n", p.In(show.Quiet, text))
		return nil
	}
	ids, err := store.IDs(folder) // what is short must be so among all
	if err != nil {
		return cli.Failed("sessions", err, "")
	}
	sessionTable(list, store.ShortLength(ids, 8), all, time.Now()).Write(p)
	return nil
}

func sessionTable(list []store.Info, short int, projects bool, now time.Time) *show.Table {
	header := []string{"ID", "USED", "STATE", "MESSAGES", "MODEL"}
	if projects {
		header = append(header, "PROJECT")
	}
	table := &show.Table{Header: append(header, "PROMPT")}
	tones := map[store.Condition]show.Tone{store.InUse: show.Good, store.Interrupted: show.Warn, store.Damaged: show.Bad, store.Ended: show.Quiet}
	for _, info := range list {
		prompt := show.Cell{Text: show.Shorten(show.FirstLine(info.First), 60)}
		if info.Damage != nil {
			prompt = show.Cell{Text: info.Damage.Error(), Tone: show.Bad}
		}
		row := []show.Cell{
			{Text: info.ID[:min(short, len(info.ID))], Tone: show.Name}, {Text: Age(now.Sub(info.Last))},
			{Text: string(info.Condition), Tone: tones[info.Condition]}, {Text: fmt.Sprint(info.Messages)}, {Text: show.Shorten(info.Model, 30)},
		}
		if projects {
			row = append(row, show.Cell{Text: info.Project})
		}
		table.Add(append(row, prompt)...)
	}
	return table
}

// Age returns how long ago something was, for people.
func Age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh ago", int(d.Hours()))
	}
	return fmt.Sprintf("%dd ago", int(d.Hours()/24))
}
