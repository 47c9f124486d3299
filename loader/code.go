package loader

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

// code is what runs as a hook or server, and what of the project belongs to it.
type code struct {
	argv       []string            // of a command: its program resolved, its arguments as written; nil for a hook file
	words      []string            // of a command as it is written, except for a program that is a path
	own        string              // of a command: its program as resolved, before copying
	ownProgram bool                // the program of the command is a file of the project
	program    interpreter.Program // what the hook's file, or the project's own program, says of how it starts

	bundle    *bundle
	fresh     string          // hash of the bundle as this version makes it, where an earlier one's is believed
	swaps     map[string]swap // words of the command line that mean a file of the bundle
	unwatched []string        // code of the project that runs and is not in the bundle, in words

	trouble   *report.Problem // why it cannot run, nil if it can
	unstarted bool            // trouble says only that what starts it cannot be found
}

// isCommand reports whether it is a program named in settings rather than a file of
// a hooks folder.
func (c *code) isCommand() bool { return c.argv != nil }

// sealHook makes the bundle of a hook: its entry, what starts it, and its files.
// path and sideFile are those of a hook file. missing are the patterns of files that
// nothing answers to.
func (c *code) sealHook(in *builder, name, path, sideFile string, e entry) (missing []string, err error) {
	base := in.hooks
	if c.isCommand() {
		base = in.Root
	}
	c.bundle, err = in.build(name, e, base, func(d *draft) (err error) {
		if c.isCommand() {
			err = c.addCommand(d)
		} else {
			err = c.addFile(d, path, sideFile, e.Args)
		}
		if err == nil {
			missing, err = d.addHelpers(e.Files)
		}
		return err
	})
	return missing, err
}

// addFile puts in a hook file with its side file, and what of the project its
// arguments name.
func (c *code) addFile(d *draft, path, sideFile string, args []string) (err error) {
	err = d.put(d.Name, path)
	if err == nil && sideFile != "" {
		err = d.add(sideFile)
	}
	startable := c.trouble == nil
	if err == nil && d.Pinned {
		err = c.addWords(d, args, interpreter.KindUnknown, projectPrefix)
	}
	if err != nil || !startable {
		return err
	}
	return c.settleStarter(d, d.Starter(c.program))
}

// addCommand puts in the files of the project that a command names, and looks for
// what starts its program if that is one of them.
func (c *code) addCommand(d *draft) error {
	if !d.Pinned {
		return nil
	}
	if at := d.Locate(c.argv[0]); filepath.IsAbs(c.argv[0]) && at.Name != "" && at.Exists && at.Info.Mode.IsRegular() {
		if err := d.add(at.Name); err != nil {
			return err
		}
		c.ownProgram, c.swaps = true, map[string]swap{c.argv[0]: {name: at.Name}}
		if c.trouble == nil {
			if c.program, c.trouble = interpreter.ReadProgram(interpreter.FirstBytes(at.Where)); c.trouble == nil {
				if err := c.settleStarter(d, d.Starter(c.program)); err != nil {
					return err
				}
			}
		}
	}
	of := interpreter.KindOf(c.argv[0])
	if c.ownProgram && c.program.Words != "" {
		of = interpreter.KindUnknown
	}
	return c.addWords(d, c.argv[1:], of, "")
}

// settleStarter takes in what starts a script: that it cannot be found, and its
// bytes where it lies in the project, which only a hook in place may have.
func (c *code) settleStarter(d *draft, s interpreter.Starter) error {
	if s.Bad != nil {
		if c.trouble == nil {
			c.trouble, c.unstarted = s.Bad, !s.Refused
		}
		return nil
	}
	if at := d.Locate(s.Pin.Path); d.Pinned && s.Pin.Path != "" && at.Name != "" {
		c.unwatched = append(c.unwatched, fmt.Sprintf("its interpreter %s lies in the project, and so does what that loads", at.Name))
		return d.put(projectPrefix+at.Name, s.Pin.Path)
	}
	return nil
}

// programWord is what a command calls its program, "" if that is a file of the
// project, which is part of the bundle, or if there is no command.
func (c *code) programWord() string {
	if len(c.words) == 0 || c.ownProgram {
		return ""
	}
	return c.words[0]
}

// script is the script that it starts as, if it is one.
func (c *code) script() (interpreter.Program, bool) {
	return c.program, c.program.Words != "" && (c.ownProgram || !c.isCommand())
}

// freshHash is the bundle's hash as this version makes it.
func (c *code) freshHash() string { return cmp.Or(c.fresh, c.bundle.hash) }

// shownPins are the starters of a hook for a person: the program that runs, and
// the words that mean it.
func (c *code) shownPins(now interpreter.Pins) (interpreter, program string) {
	if script, is := c.script(); is {
		interpreter = pinText(now.Interpreter, "#!"+script.Words)
	}
	if word := c.programWord(); word != "" {
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

// nameWords keeps the words of a command, of which a program that is a path is
// absolute.
func (c *code) nameWords(words []string) {
	if len(c.argv) == 0 || len(words) == 0 {
		return
	}
	c.words = slices.Clone(c.argv)
	if filepath.Base(words[0]) == words[0] {
		c.words[0] = words[0]
		c.unstarted = c.trouble != nil // not found where hookd looks now
	}
	c.own = c.argv[0]
}

// copied returns words of a command line with the private copy in the place of
// every file of the bundle; folder is where the copies lie.
func (c *code) copied(words []string, folder string) []string {
	words = slices.Clone(words)
	for i, word := range words {
		if s, is := c.swaps[word]; is {
			words[i] = s.before + filepath.Join(folder, filepath.FromSlash(s.name))
		}
	}
	return words
}

// addServer puts in what of the project a server's command line and variables name.
func (c *code) addServer(d *draft, s *schema.MCPServer) error {
	if len(c.argv) == 0 {
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
func (in *builder) checkVariables(s *schema.MCPServer) *report.Problem {
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
