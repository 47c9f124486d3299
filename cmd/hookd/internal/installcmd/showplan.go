package installcmd

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/loader/install"
)

// shortDiff is how many lines of an agent's files are shown as they are. More are told in
// a few words, unless the person wants every line.
const shortDiff = 12

// manyFiles of one folder are told together.
const manyFiles = 3

// showPlan shows what would change in which file. It reports whether there are lines that it
// did not show.
func (cmd *Commands) showPlan(plan *install.Plan, version string, all bool) (more bool) {
	out := cmd.Console.Out
	title := plan.Agent.Title
	if version != "" {
		title += " (" + version + ")"
	}
	out.Print("%s\n", out.In(show.Strong, show.Line(title)))
	lines, changes := 0, make([]change, len(plan.Files))
	for i := range plan.Files {
		changes[i] = changeOf(plan, &plan.Files[i])
		lines += len(changes[i].added) + len(changes[i].removed)
	}
	if all || lines <= shortDiff {
		for i := range changes {
			c := &changes[i]
			out.Print("  %s  %s\n", c.place, out.In(show.Quiet, c.what))
			out.Diff("  ", string(c.file.Before), string(c.file.After))
		}
		return false
	}
	for _, of := range byFolder(changes) {
		if len(of) > manyFiles {
			folder := filepath.Dir(of[0].file.Path) + string(filepath.Separator)
			out.Print("  %s  %s\n", show.Line(folder), out.In(show.Quiet, fmt.Sprintf("%d files, each %s", len(of), of[0].what)))
			continue
		}
		for i := range of {
			out.Print("  %s  %s\n", of[i].place, out.In(show.Quiet, of[i].what+of[i].size()))
		}
	}
	if plan.Removal {
		return true
	}
	if len(plan.Events) > 0 {
		out.Print("  hookd is asked at %s: %s\n", text.Count(len(plan.Events), "event"), strings.Join(plan.Events, ", "))
	}
	for i := range changes {
		if line := changes[i].example(); line != "" {
			out.Print("  %s\n", out.In(show.Quiet, "each by an entry such as "+show.Line(line)))
			break
		}
	}
	return true
}

// showMore says how lines that were not shown can be seen.
func (cmd *Commands) showMore(more bool) {
	if more {
		cmd.Console.Out.Print("%s\n", cmd.Console.Out.In(show.Quiet, "what is not hookd's stays as it is, byte for byte; --diff shows every line"))
	}
}

// byFolder returns changes in their order, with those of the same kind that lie in one folder
// together.
func byFolder(changes []change) (groups [][]change) {
	at := map[string]int{}
	for _, c := range changes {
		key := filepath.Dir(c.file.Path) + "\x00" + c.what
		i, known := at[key]
		if !known {
			i = len(groups)
			at[key] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], c)
	}
	return groups
}

// change is what becomes of one file, in words.
type change struct {
	file           *install.Change
	place, what    string
	added, removed []string
}

func changeOf(plan *install.Plan, file *install.Change) change {
	c := change{file: file, place: show.Line(file.Path), what: "unchanged: hookd is installed"}
	switch {
	case plan.Removal && file.Delete:
		c.what = "is removed"
	case plan.Removal:
		c.what = "hookd is taken out"
	case file.Changes() && !file.Exists:
		c.what = "new"
	case file.Changes():
		c.what = "changed"
	}
	if file.Real != file.Path && file.Exists {
		c.place += " → " + show.Line(file.Real)
	}
	c.added, c.removed = show.Changed(string(file.Before), string(file.After))
	return c
}

// size says how many lines come and go, "" if none do or the file goes.
func (c *change) size() string {
	switch {
	case c.file.Delete:
		return ""
	case !c.file.Exists:
		return ", " + text.Count(len(c.added), "line")
	}
	var parts []string
	for _, p := range []struct {
		lines []string
		what  string
	}{{c.added, "more"}, {c.removed, "less"}} {
		if n := len(p.lines); n > 0 {
			parts = append(parts, text.Count(n, "line")+" "+p.what)
		}
	}
	if parts == nil {
		return ""
	}
	return ", " + strings.Join(parts, " and ")
}

// example returns a line that is added and starts hookd, "" where no line of its own does.
func (c *change) example() string {
	for _, line := range c.added {
		if line = strings.Trim(line, " \t,"); strings.Contains(line, "bridge") && strings.Contains(line, "hookd") {
			return line
		}
	}
	return ""
}
