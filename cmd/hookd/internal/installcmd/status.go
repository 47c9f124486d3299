package installcmd

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/loader/install"
)

// shown is an installation, as --json prints it.
type shown struct {
	Agent    string          `json:"agent"`
	Scope    install.Scope   `json:"scope"`
	File     string          `json:"file"`
	Program  string          `json:"program"`
	Events   []string        `json:"events"`
	Version  string          `json:"version"`
	Problems []problemOfJSON `json:"problems"`
}

type problemOfJSON struct {
	File   string `json:"file"`
	Line   int    `json:"line,omitzero"`
	Text   string `json:"text"`
	Remedy string `json:"remedy"`
}

func (cmd *Commands) status(ctx context.Context, f flags, names []string) error {
	chosen, err := agents(names)
	if err != nil {
		return err
	}
	in, err := cmd.installer(&f)
	if err != nil {
		return err
	}
	runtime, err := cmd.Processes.Start(false)
	if err != nil {
		return err
	}
	list := []shown{}
	for _, checked := range in.Check(ctx, runtime, os.Environ()) {
		if len(chosen) > 0 && !slices.Contains(chosen, checked.Agent) {
			continue
		}
		s := shown{Agent: checked.Agent.Name, Scope: checked.Scope, File: checked.File, Version: checked.Version.String(), Events: []string{}, Problems: []problemOfJSON{}}
		for _, e := range checked.Entries {
			s.Events = append(s.Events, e.Event)
			s.Program = e.Command.Program
		}
		for _, p := range checked.Problems {
			s.Problems = append(s.Problems, problemOfJSON{p.File, p.Line, p.Text, p.Remedy})
		}
		list = append(list, s)
	}
	if cmd.Console.JSON {
		return cmd.Console.PrintJSON(list)
	}
	cmd.showStatus(list)
	return nil
}

func (cmd *Commands) showStatus(list []shown) {
	out := cmd.Console.Out
	if len(list) == 0 {
		out.Print("hookd is installed in no agent; hookd install --detect shows which are here\n")
		return
	}
	table := show.Table{Header: []string{"AGENT", "SCOPE", "EVENTS", "FILE", "STARTS"}}
	for _, s := range list {
		tone := show.Good
		if len(s.Problems) > 0 {
			tone = show.Bad
		}
		table.Add(show.Cell{Text: s.Agent, Tone: tone}, show.Cell{Text: string(s.Scope)}, show.Cell{Text: strconv.Itoa(len(s.Events))}, show.Cell{Text: s.File}, show.Cell{Text: s.Program, Tone: show.Quiet})
	}
	table.Write(out)
	for _, s := range list {
		for _, p := range s.Problems {
			out.Print("%s %s\n", out.In(show.Bad, s.Agent+":"), show.Line(p.Text))
			out.Print("  %s\n", out.In(show.Quiet, show.Line(place(p.File, p.Line)+"; "+p.Remedy)))
		}
	}
}

// detected is an agent that is here, as --json prints it.
type detected struct {
	Agent   string   `json:"agent"`
	Title   string   `json:"title"`
	Program string   `json:"program"`
	Version string   `json:"version"`
	Folder  string   `json:"folder"`
	Scopes  []string `json:"installed"`
}

func (cmd *Commands) detect(ctx context.Context, f flags) error {
	in, err := cmd.installer(&f)
	if err != nil {
		return err
	}
	runtime, err := cmd.Processes.Start(false)
	if err != nil {
		return err
	}
	list := []detected{}
	for _, found := range in.Detect(ctx, runtime, os.Environ()) {
		d := detected{Agent: found.Agent.Name, Title: found.Agent.Title, Program: found.Program, Version: found.Version.String(), Folder: found.Folder, Scopes: []string{}}
		for _, i := range in.Status() {
			if i.Agent == found.Agent && len(i.Entries) > 0 {
				d.Scopes = append(d.Scopes, string(i.Scope))
			}
		}
		list = append(list, d)
	}
	if cmd.Console.JSON {
		return cmd.Console.PrintJSON(list)
	}
	if len(list) == 0 {
		cmd.Console.Out.Print("no agent that hookd knows is here: none has its program on PATH or its settings in your home folder\nhookd knows %s\n", strings.Join(install.Names(), ", "))
		return nil
	}
	table := show.Table{Header: []string{"AGENT", "VERSION", "HOOKD", "PROGRAM", "CONFIGURATION"}}
	for _, d := range list {
		installed := "no"
		if len(d.Scopes) > 0 {
			installed = strings.Join(d.Scopes, ", ")
		}
		table.Add(show.Cell{Text: d.Agent, Tone: show.Name}, show.Cell{Text: d.Version}, show.Cell{Text: installed}, show.Cell{Text: d.Program}, show.Cell{Text: d.Folder, Tone: show.Quiet})
	}
	table.Write(cmd.Console.Out)
	if i := slices.IndexFunc(list, func(d detected) bool { return len(d.Scopes) == 0 }); i >= 0 {
		cmd.Console.Out.Print("%s\n", cmd.Console.Out.In(show.Quiet, "next: hookd install "+list[i].Agent+" --dry-run shows what would be written"))
	}
	return nil
}

// place names a line of a file.
func place(file string, line int) string {
	if line == 0 {
		return file
	}
	return file + ":" + strconv.Itoa(line)
}
