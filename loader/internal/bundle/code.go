package bundle

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/loader/internal/interpreter"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/schema"
)

// Code is what runs as a hook or server, and what of the project belongs to it.
type Code struct {
	Argv       []string            // of a command: its program resolved, its arguments as written; nil for a hook file
	Words      []string            // of a command as it is written, except for a program that is a path
	Shell      *ShellLine          // of a command that a shell reads: its line, which is the last of Argv
	Own        string              // of a command: its program as resolved, before copying
	ownProgram bool                // the program of the command is a file of the project
	Program    interpreter.Program // what the hook's file, or the project's own program, says of how it starts

	Bundle    *Bundle
	Fresh     string          // hash of the bundle as this version makes it, where an earlier one's is believed
	Swaps     map[string]swap // words of the command line that mean a file of the bundle
	Unwatched []string        // code of the project that runs and is not in the bundle, in words

	Problem   *report.Problem // why it cannot run, nil if it can
	Unstarted bool            // trouble says only that what starts it cannot be found
}

// IsCommand reports whether it is a program named in settings rather than a file of
// a hooks folder.
func (c *Code) IsCommand() bool { return c.Argv != nil }

// SealHook makes the bundle of a hook: its entry, what starts it, and its files.
// path and sideFile are those of a hook file. missing are the patterns of files that
// nothing answers to.
func (c *Code) SealHook(in *Builder, name, path, sideFile string, e Entry) (missing []string, err error) {
	base := in.HooksDir
	if c.IsCommand() {
		base = in.Root
	}
	c.Bundle, err = in.Build(name, e, base, func(d *Draft) (err error) {
		d.leaveTests = !c.IsCommand() && !e.InPlace
		if c.IsCommand() {
			err = c.addCommand(d)
		} else {
			err = c.addFile(d, path, sideFile, e.Args)
		}
		if err == nil {
			missing, err = d.AddHelpers(e.Files)
		}
		return err
	})
	return missing, err
}

// SealRule makes the bundle of a rule: its entry is all of it.
func (c *Code) SealRule(in *Builder, name string, e Entry) (err error) {
	c.Bundle, err = in.Build(name, e, in.Root, func(*Draft) error { return nil })
	return err
}

// addFile puts in a hook file with its side file, and what of the project its
// arguments name.
func (c *Code) addFile(d *Draft, path, sideFile string, args []string) (err error) {
	err = d.put(d.Name, path)
	if err == nil && sideFile != "" {
		err = d.Add(sideFile)
	}
	startable := c.Problem == nil
	if err == nil && d.Pinned {
		err = c.addWords(d, args, interpreter.KindUnknown, ProjectPrefix)
	}
	if err != nil || !startable {
		return err
	}
	return c.addStarter(d, d.Starter(c.Program))
}

// addCommand puts in the files of the project that a command names, and looks for
// what starts its program if that is one of them.
func (c *Code) addCommand(d *Draft) error {
	if !d.Pinned {
		return nil
	}
	if c.Shell != nil {
		return c.Shell.add(c, d)
	}
	if at := d.Locate(c.Argv[0]); filepath.IsAbs(c.Argv[0]) && at.Name != "" && at.Exists && at.Info.Mode.IsRegular() {
		if err := d.Add(at.Name); err != nil {
			return err
		}
		c.ownProgram, c.Swaps = true, map[string]swap{c.Argv[0]: {Name: at.Name}}
		if c.Problem == nil {
			if c.Program, c.Problem = interpreter.ReadProgram(interpreter.FirstBytes(at.Where)); c.Problem == nil {
				if err := c.addStarter(d, d.Starter(c.Program)); err != nil {
					return err
				}
			}
		}
	}
	of := interpreter.KindOf(c.Argv[0])
	if c.ownProgram && c.Program.Words != "" {
		of = interpreter.KindUnknown
	}
	return c.addWords(d, c.Argv[1:], of, "")
}

// addStarter adds what starts a script: the problem if it cannot be found, and its bytes
// if it lies in the project, which only a hook in place may have.
func (c *Code) addStarter(d *Draft, s interpreter.Starter) error {
	if s.Bad != nil {
		if c.Problem == nil {
			c.Problem, c.Unstarted = s.Bad, !s.Refused
		}
		return nil
	}
	if !d.Pinned || s.Pin.Path == "" {
		return nil
	}
	if at := d.LocateStarter(s.Pin); at.Name != "" {
		c.Unwatched = append(c.Unwatched, fmt.Sprintf("its interpreter %s lies in the project, and so does what that loads", at.Name))
		return d.put(ProjectPrefix+at.Name, s.Pin.Path)
	}
	return nil
}

// ProgramWord is what a command calls its program, "" if that is a file of the
// project, which is part of the bundle, or if there is no command.
func (c *Code) ProgramWord() string {
	if len(c.Words) == 0 || c.ownProgram {
		return ""
	}
	return c.Words[0]
}

// Script is the script that it starts as, if it is one.
func (c *Code) Script() (interpreter.Program, bool) {
	return c.Program, c.Program.Words != "" && (c.ownProgram || !c.IsCommand())
}

// FreshHash is the bundle's hash as this version makes it.
func (c *Code) FreshHash() string { return cmp.Or(c.Fresh, c.Bundle.Hash) }

// ShownPins are the starters of a hook for a person: the program that runs, and
// the words that mean it.
func (c *Code) ShownPins(now interpreter.Pins) (interpreter, program string) {
	if script, is := c.Script(); is {
		interpreter = pinText(now.Interpreter, "#!"+script.Words)
	}
	if word := c.ProgramWord(); word != "" {
		program = pinText(now.Program, word)
	}
	return interpreter, program
}

func pinText(found *interpreter.Pin, words string) string {
	if found == nil || found.Real == words || "#!"+found.Real == words {
		return strings.TrimPrefix(words, "#!")
	}
	return found.Real + " (" + words + ")"
}

// NameWords keeps the words of a command, of which a program that is a path is
// absolute.
func (c *Code) NameWords(words []string) {
	if len(c.Argv) == 0 || len(words) == 0 {
		return
	}
	c.Words = slices.Clone(c.Argv)
	if filepath.Base(words[0]) == words[0] {
		c.Words[0] = words[0]
		c.Unstarted = c.Problem != nil // not found where hookd looks now
	}
	c.Own = c.Argv[0]
}

// Copied returns words of a command line with the private copy in the place of
// every file of the bundle; folder is where the copies lie.
func (c *Code) Copied(words []string, folder string) []string {
	words = slices.Clone(words)
	for i, word := range words {
		if c.Shell != nil && word == c.Shell.Text {
			words[i] = c.Shell.Copied(folder)
		} else if s, is := c.Swaps[word]; is {
			words[i] = s.before + filepath.Join(folder, filepath.FromSlash(s.Name))
		}
	}
	return words
}

// AddServer puts in what of the project a server's command line and variables name.
func (c *Code) AddServer(d *Draft, s *schema.MCPServer) error {
	if len(c.Argv) == 0 {
		return nil
	}
	if err := c.addCommand(d); err != nil || !d.Pinned {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		if err := c.addWords(d, []string{s.Env[name]}, interpreter.KindRunner, ""); err != nil {
			return err
		}
	}
	return nil
}

// CheckVariables refuses variables by which a server of a project would load code
// that is no part of what is allowed.
func (in *Builder) CheckVariables(s *schema.MCPServer) *report.Problem {
	if !in.Pinned {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		if hookenv.LoadsCode(name) && in.SetsCode(name+"="+s.Env[name]) {
			return &report.Problem{Why: fmt.Sprintf("env.%s may make it load code of the project, which nobody would see change", name), Remedy: "leave it out, or name a folder outside of the project"}
		}
	}
	return nil
}
