package install

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/protocol/dialect/plugins"
)

// Agents whose hooks are files of their own. Each file is made as a whole and known by
// a line that no other file has.

const scriptMark = "# Made by hookd install. hookd uninstall removes it."

// script is the program for one event.
func (p Places) script(r Request, e Event) []byte {
	line := p.commandLine(r, e)
	if p.OS == "windows" {
		return []byte(scriptMark + "\r\n" + line + "\r\nexit $LASTEXITCODE\r\n")
	}
	return []byte("#!/bin/sh\n" + scriptMark + "\nexec " + line + "\n")
}

// scriptName is the name of the file for an event.
func (p Places) scriptName(event string) string {
	if p.OS == "windows" {
		return event + ".ps1"
	}
	return event
}

// scriptCommand returns the command that a script of ours runs.
func scriptCommand(text []byte) (c Command, line int, ok bool) {
	if !bytes.Contains(text, []byte(scriptMark)) {
		return Command{}, 0, false
	}
	number := 0
	for l := range strings.Lines(string(text)) {
		number++
		if c, ok := ParseCommand(strings.TrimRight(l, "\r\n")); ok {
			return c, number, true
		}
	}
	return Command{}, 0, false
}

// planScripts plans a file for each event, in the first folder in which nobody else's
// file stands in its place.
func (in *Installer) planScripts(p *Plan, r Request, events []Event, known *records) error {
	for _, e := range events {
		var taken error
		for _, folder := range r.Agent.layout.files(in.Places, r.Scope) {
			taken = in.planOwn(p, r, filepath.Join(folder.path, in.Places.scriptName(e.Name)), in.Places.script(r, e), 0o755, known)
			if !errors.Is(taken, errTaken) {
				break
			}
		}
		if taken != nil {
			return taken
		}
	}
	return nil
}

var errTaken = errors.New("another program's file stands here")

// planOwn plans a file that is ours as a whole.
func (in *Installer) planOwn(p *Plan, r Request, path string, text []byte, mode fs.FileMode, known *records) error {
	c, err := open(path)
	if err != nil {
		return err
	}
	if c.Exists && !isOwn(c.Before) && !bytes.Equal(c.Before, text) {
		return &FileError{File: path, Err: errTaken, Remedy: "move it away, or add hookd's command to it"}
	}
	if !c.Exists {
		c.Mode = mode
	}
	c.After = text
	c.record = known.find(c.Real)
	if !bytes.Equal(c.Before, text) || !c.Exists {
		rec := &fileRecord{Agent: r.Agent.Name, Scope: r.Scope, File: c.Real, At: time.Now().UTC(), Created: true, After: hashOf(text)}
		if c.record != nil {
			rec.Folders = c.record.Folders
		}
		c.record = rec
	}
	p.Files = append(p.Files, *c)
	return nil
}

// isOwn reports whether a text is a file that hookd made.
func isOwn(text []byte) bool {
	return bytes.Contains(text, []byte(scriptMark)) || bytes.HasPrefix(text, []byte(plugins.Mark)) || bytes.Contains(text, []byte(pluginDescription))
}

func (in *Installer) removeScripts(p *Plan, a *Agent, s Scope, known *records) error {
	for _, folder := range a.layout.files(in.Places, s) {
		for _, row := range a.Dialect.Rows {
			before := len(p.Files)
			if err := in.removeOwn(p, a, filepath.Join(folder.path, in.Places.scriptName(row.Name)), known); err != nil {
				return err
			}
			if len(p.Files) > before {
				p.Events = append(p.Events, row.Name)
			}
		}
	}
	return nil
}

// removeOwn plans the removal of a file that is ours, and leaves one that others changed.
func (in *Installer) removeOwn(p *Plan, a *Agent, path string, known *records) error {
	c, err := openOurs(path)
	if err != nil || !c.Exists || !isOwn(c.Before) {
		return err
	}
	old := known.find(c.Real)
	if !in.Places.unchanged(a, c.Before, old) {
		p.Notes = append(p.Notes, Note{fmt.Sprintf("%s was changed by hand and stays", path), "remove it yourself if you do not need it"})
		return nil
	}
	c.Delete, c.record = true, old
	p.Files = append(p.Files, *c)
	return nil
}

// unchanged reports whether a file of ours is as hookd made it.
func (p Places) unchanged(a *Agent, text []byte, old *fileRecord) bool {
	if old != nil {
		return old.After == hashOf(text)
	}
	if a.layout.style != scripts {
		return true // the mark is all that is known about it
	}
	c, _, ok := scriptCommand(text)
	made := p.script(Request{Agent: a, Program: c.Program}, Event{Name: c.Event, Limit: c.Limit})
	return ok && bytes.Equal(text, made)
}

// planPlugin plans a plug-in of source text.
func (in *Installer) planPlugin(p *Plan, r Request, known *records) error {
	limit := r.Agent.Dialect.Rows[0].Limit
	c := Command{Program: r.Program, Agent: r.Agent.Name, Limit: limit}
	source := plugins.Source(r.Agent.Name, c.Words(), limit)
	if source == nil {
		return fmt.Errorf("this hookd has no plug-in for %s", r.Agent.Title)
	}
	return in.planOwn(p, r, r.Agent.Paths(in.Places, r.Scope)[0], source, 0o644, known)
}

// pluginCommand returns the command that a plug-in of ours starts, and the line that names it.
func pluginCommand(text []byte) (c Command, line int) {
	number := 0
	for l := range strings.Lines(string(text)) {
		number++
		list, is := strings.CutPrefix(strings.TrimSpace(l), "const COMMAND = ")
		var words []string
		if !is || json.Unmarshal([]byte(strings.TrimSuffix(list, ";")), &words) != nil || len(words) == 0 {
			continue
		}
		c, _ = ParseCommand(POSIX.quote(words[0]) + " " + strings.Join(words[1:], " "))
		c.Program = words[0]
		return c, number
	}
	return Command{}, 0
}

// Goose reads hooks from plug-ins: a folder with a manifest.

const pluginDescription = "Runs the hooks of hookd. Made by hookd install."

// gooseFolder returns the folder of hookd's plug-in, nil where Goose has none.
func gooseFolder(p Places, s Scope) func(string) string {
	switch s {
	case User:
		return func(name string) string { return p.home("", ".agents/plugins/hookd/"+name) }
	case Project:
		return func(name string) string { return p.project(".agents/plugins/hookd/" + name) }
	}
	return nil
}

func goosePlugin(p Places, s Scope) map[string]string {
	folder := gooseFolder(p, s)
	return map[string]string{folder("plugin.json"): `{
  "name": "hookd",
  "version": "1.0.0",
  "description": "` + pluginDescription + `"
}
`}
}

// commandLine is the command of the entry for an event.
func (p Places) commandLine(r Request, e Event) string {
	return Command{Program: r.Program, Agent: r.Agent.Name, Event: e.Name, Limit: e.Limit}.Line(p.ShellOf(r.Agent))
}
