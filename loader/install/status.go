package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/fsutil"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/loader/install/internal/configtext"
	"github.com/hookd-dev/hookd/protocol/dialect/plugins"
	"github.com/hookd-dev/hookd/schema"
)

// Installed is what an agent's files of one scope say about hookd.
type Installed struct {
	Agent   *Agent
	Scope   Scope
	File    string  // the first that has an entry of ours, else the one that would
	Entries []Entry // ours, none if hookd is not installed there
	Err     error   // why a file cannot be read
}

// Problem is what keeps installed hooks from working.
type Problem struct {
	File   string
	Line   int // 1-based, 0 if it is no line
	Text   string
	Remedy string
}

// Status reads where hookd is installed, and files that cannot be read. It starts
// nothing.
func (in *Installer) Status() (list []Installed) {
	for _, a := range Agents {
		for _, s := range Scopes {
			if in.Places.scope(a, s) != nil {
				continue
			}
			if i := in.StatusOf(a, s); len(i.Entries) > 0 || i.Err != nil {
				list = append(list, i)
			}
		}
	}
	return list
}

// StatusOf reads whether hookd is installed in an agent for a scope.
func (in *Installer) StatusOf(a *Agent, s Scope) Installed {
	i := Installed{Agent: a, Scope: s}
	for _, f := range a.layout.files(in.Places, s) {
		var entries []Entry
		var err error
		path := f.path
		switch a.layout.style {
		case scripts:
			entries, err = in.Places.scriptEntries(a, f.path)
		case plugin:
			entries, err = pluginEntries(a, f.path)
		default:
			entries, err = fileEntries(a, f)
		}
		if i.File == "" || len(i.Entries) == 0 && len(entries) > 0 {
			i.File = path
		}
		if i.Err == nil {
			i.Err = err
		}
		i.Entries = append(i.Entries, entries...)
	}
	return i
}

// fileEntries reads our entries in a configuration file. One that cannot be read is no
// error as long as nothing in it looks like ours.
func fileEntries(a *Agent, f file) ([]Entry, error) {
	c, err := open(f.path)
	if errors.Is(err, fs.ErrPermission) {
		return nil, err // nobody can say what is in it
	}
	if err != nil || !c.Exists || !bytes.Contains(c.Before, []byte("hookd")) {
		return nil, nil
	}
	root, err := configtext.Parse(f.format, c.Before)
	if err != nil {
		return nil, explain(c.Path, err)
	}
	entries := a.entriesIn(root)
	for i := range entries {
		entries[i].unread = f.atRoot && entries[i].path.Within(configtext.Names("hooks"))
	}
	return entries, nil
}

func (p Places) scriptEntries(a *Agent, folder string) (entries []Entry, err error) {
	for _, row := range a.Dialect.Rows {
		c, err := open(filepath.Join(folder, p.scriptName(row.Name)))
		if err != nil || !c.Exists {
			continue
		}
		if command, line, ok := scriptCommand(c.Before); ok {
			entries = append(entries, Entry{Event: row.Name, Command: command, Line: line})
		}
	}
	return entries, nil
}

// pluginEntries reads which program a plug-in starts.
func pluginEntries(a *Agent, path string) (entries []Entry, err error) {
	c, err := open(path)
	if err != nil || !c.Exists || !bytes.HasPrefix(c.Before, []byte(plugins.Mark)) {
		return nil, nil
	}
	command, line := pluginCommand(c.Before)
	for _, row := range a.Dialect.Rows {
		entries = append(entries, Entry{Event: row.Name, Command: command, Line: line})
	}
	return entries, nil
}

// Problems returns what keeps the hooks of an installation from working. The version is
// that of the agent, the zero value if it is not known.
func (in *Installer) Problems(i Installed, v Version) (problems []Problem) {
	var file *FileError
	if errors.As(i.Err, &file) {
		text, remedy := fmt.Sprintf("the file cannot be read, so %s does not run the hooks in it: %v", i.Agent.Title, file.Err), "correct the file"
		if errors.Is(file.Err, fs.ErrPermission) {
			text, remedy = fmt.Sprintf("the file cannot be read, so that nobody can say whether hookd is in it: %v", file.Err), file.Remedy
		}
		problems = append(problems, Problem{file.File, file.Line, text, remedy})
	}
	if len(i.Entries) == 0 {
		return problems
	}
	again := "hookd install " + i.Agent.Name + i.Scope.flag()
	if oldest := i.Agent.events.oldest; v.Known() && oldest.Known() && v.Compare(oldest) < 0 {
		problems = append(problems, Problem{i.File, 0, fmt.Sprintf("%s %s runs no hooks: they came with %s", i.Agent.Title, v, oldest), "update " + i.Agent.Title})
	}
	problems = append(problems, entryProblems(i, v, again)...)
	return append(problems, in.Places.switchedOff(i)...)
}

// entryProblems looks at the entries themselves.
func entryProblems(i Installed, v Version, again string) (problems []Problem) {
	programs := map[string]bool{}
	seen := map[string]int{}
	for _, e := range i.Entries {
		if !programs[e.Command.Program] {
			programs[e.Command.Program] = true
			if why := unusable(e.Command.Program); why != "" {
				problems = append(problems, Problem{i.File, e.Line, fmt.Sprintf("%s cannot start hookd: %s", i.Agent.Title, why), again})
			}
		}
		if e.unread {
			problems = append(problems, Problem{i.File, e.Line, fmt.Sprintf("%s does not start hookd for %s: it reads events at the root of this file, not below hooks", i.Agent.Title, e.Event), again})
		}
		if e.Command.More != "" {
			problems = append(problems, Problem{i.File, e.Line, fmt.Sprintf("the entry of %s has more than hookd's command, and what hookd answers may be lost: %s", e.Event, text.Shorten(e.Command.More, 60)), again})
		}
		if e.Command.Agent != i.Agent.Name {
			problems = append(problems, Problem{i.File, e.Line, fmt.Sprintf("the entry speaks the words of %q, not those of %s", e.Command.Agent, i.Agent.Title), again})
		}
		if first, twice := seen[e.Event]; twice {
			problems = append(problems, Problem{i.File, e.Line, fmt.Sprintf("%s starts hookd twice for %s: line %d, too", i.Agent.Title, e.Event, first), again})
		}
		seen[e.Event] = e.Line
		if e.Limit > 0 && e.Command.Limit > 0 && e.Limit < e.Command.Limit {
			problems = append(problems, Problem{i.File, e.Line, fmt.Sprintf("%s ends hookd after %s, and hookd expects %s: its answer can come too late", i.Agent.Title, e.Limit, e.Command.Limit), again})
		}
		if e.Command.Event != "" && !i.Agent.sameEvent(e.Command.Event, e.Event) {
			problems = append(problems, Problem{i.File, e.Line, fmt.Sprintf("the entry of %s says that it is %s", e.Event, e.Command.Event), again})
		}
	}
	installed := func(event string) bool {
		return slices.ContainsFunc(i.Entries, func(e Entry) bool { return i.Agent.sameEvent(e.Event, event) })
	}
	events, _ := i.Agent.Events(v)
	var absent []string
	for _, e := range events {
		other := i.Agent.Dialect.Row(e.Name).Same
		if !installed(e.Name) && (other == "" || !installed(other)) {
			absent = append(absent, e.Name)
		}
	}
	if len(absent) > 0 {
		problems = append(problems, Problem{i.File, 0, fmt.Sprintf("hookd is not started for %s", strings.Join(absent, ", ")), again})
	}
	return problems
}

// unusable says why a program cannot be started, "" if nothing stands in the way.
func unusable(program string) string {
	if !filepath.IsAbs(program) {
		return program + " is no absolute path"
	}
	info, err := os.Stat(program)
	switch {
	case err != nil:
		return fmt.Sprintf("%s: %v", program, fsutil.WithoutPath(err))
	case !info.Mode().IsRegular():
		return program + " is no file"
	case runtime.GOOS != "windows" && info.Mode()&0o111 == 0:
		return program + " is not executable"
	}
	return ""
}

// switchedOff looks for settings that keep the agent from running hooks.
func (p Places) switchedOff(i Installed) (problems []Problem) {
	for _, s := range i.Agent.switches {
		if s.Spares != "" && s.Spares == i.Scope {
			continue
		}
		for _, f := range s.Files(p) {
			c, err := open(f.path)
			if err != nil || !c.Exists {
				continue
			}
			root, err := configtext.Parse(f.format, c.Before)
			if err != nil {
				continue // its reader says so
			}
			if value := root.Find(s.Path); value != nil && s.Off(value) {
				problems = append(problems, Problem{f.path, value.Line, fmt.Sprintf("%s runs no hooks: %s", i.Agent.Title, s.Says), s.Remedy})
			}
		}
	}
	return problems
}

// flag is the flag of hookd install for a scope, with a blank before it.
func (s Scope) flag() string {
	if s == User {
		return ""
	}
	return " --" + string(s)
}

// Checked is an installation with what keeps it from working.
type Checked struct {
	Installed
	Version  Version // of the agent, the zero value if it is not known
	Problems []Problem
}

// Check reads where hookd is installed, asks those agents for their versions, and says
// what keeps the hooks from working.
func (in *Installer) Check(ctx context.Context, run Runner, environ []string) (list []Checked) {
	var asked []Found
	search := finder{in.Places, environ}
	for _, i := range in.Status() {
		list = append(list, Checked{Installed: i})
		known := slices.ContainsFunc(asked, func(f Found) bool { return f.Agent == i.Agent })
		if len(i.Entries) > 0 && !known {
			asked = append(asked, search.look(i.Agent))
		}
	}
	search.askAll(ctx, run, asked)
	for i := range list {
		if at := slices.IndexFunc(asked, func(f Found) bool { return f.Agent == list[i].Agent }); at >= 0 {
			list[i].Version = asked[at].Version
		}
		list[i].Problems = in.Problems(list[i].Installed, list[i].Version)
	}
	return list
}

// CodeUnable is the code of the finding that an agent cannot run hookd, or may not be able to.
const CodeUnable schema.Code = "agent-hooks-unable"

// CodeMonitored is the code of the finding that hooks only watch for an agent.
const CodeMonitored schema.Code = "hooks-only-watch"

// Codes documents them.
var Codes = []schema.CodeText{
	{Code: CodeUnable, Severity: schema.SeverityError, Meaning: "an agent has hookd in its settings and cannot run it, or, as a warning, may not be able to: the program is gone, hooks are switched off or not trusted there, its version has none, another hook or a mod answers before; `hookd verify` looks closer"},
	{Code: CodeMonitored, Severity: schema.SeverityWarning, Meaning: "hooks refuse nothing for an agent until a date: `hookd install --monitor`"},
}
