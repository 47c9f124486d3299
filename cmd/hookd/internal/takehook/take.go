package takehook

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/examples"
	"github.com/hookd-dev/hookd/loader"
)

// Taker shows and takes the hooks that are embedded in the program.
type Taker struct {
	Console *cli.Console
	Project *places.Project
}

// Options say where hooks are taken to.
type Options struct {
	User   bool // into the user's folder
	DryRun bool // say what would be written, and write nothing
}

// file is a file that is written.
type file struct {
	path string
	text []byte
	mode fs.FileMode
}

// Take writes the named hooks and their tests. It replaces nothing: if one of the files is
// there already, none is written.
func (cmd *Taker) Take(names []string, o Options) error {
	hooks, err := find(names)
	if err != nil {
		return err
	}
	folder, err := cmd.folder(o)
	if err != nil {
		return err
	}
	var all []file
	for i := range hooks {
		all = append(all, filesOf(folder, &hooks[i])...)
	}
	if err := free(all); err != nil {
		return err
	}
	if o.DryRun {
		for _, f := range all {
			cmd.Console.Out.Print("would write %s\n", cmd.Console.Out.In(show.Name, shown(f.path)))
		}
		return nil
	}
	if err := write(folder, all); err != nil {
		return err
	}
	for i := range hooks {
		cmd.told(folder, &hooks[i])
	}
	cmd.next(hooks, o)
	if o.User {
		return nil
	}
	return cmd.Project.InForce()
}

// folder returns the hooks folder that is written to. Hooks of the user's folder count
// without being allowed, so no agent may put one there.
func (cmd *Taker) folder(o Options) (string, error) {
	if !o.User {
		root, err := cmd.Project.WriteFolder()
		return filepath.Join(root, ".acai", "hooks"), err
	}
	if cmd.Project.Folder != "" {
		return "", cli.Usage("usage", "--user takes hooks into your own folder, and --project names another", "leave one of them out")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", cli.Usage("no-home", "there is no home folder: "+err.Error(), "set HOME, or take the hooks into a project")
	}
	if err := loader.MayDecide(); err != nil && !o.DryRun {
		return "", cli.Usage("below-agent", "hooks of your own folder run unasked, and no agent may put one there: "+err.Error(), "run it in a shell of your own")
	}
	return filepath.Join(home, ".acai", "hooks"), nil
}

func filesOf(folder string, h *examples.Hook) []file {
	mode := fs.FileMode(0o755)
	if h.Rules {
		mode = 0o644
	}
	return []file{{filepath.Join(folder, h.File), h.Text, mode}, {filepath.Join(folder, h.TestFile), h.Tests, 0o644}}
}

// free reports files that are there already.
func free(all []file) error {
	for _, f := range all {
		switch _, err := os.Lstat(f.path); {
		case err == nil:
			return cli.Usage("exists", shown(f.path)+" is there already, and nothing was written", "keep it, or move it away and take the hook again")
		case !errors.Is(err, fs.ErrNotExist):
			return cli.Failed("new", err, "")
		}
	}
	return nil
}

// write creates the files. Where one cannot be written, those before it are removed: half
// of what was asked for would look like all of it.
func write(folder string, all []file) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return cli.Failed("new", err, "make .acai/hooks a folder that you can write to")
	}
	for i, f := range all {
		if err := create(f); err != nil {
			for _, written := range all[:i] {
				os.Remove(written.path)
			}
			if errors.Is(err, fs.ErrExist) {
				return free(all)
			}
			return cli.Failed("new", err, "make "+shown(folder)+" a folder that you can write to")
		}
	}
	return nil
}

func create(f file) error {
	err := places.CreateFile(f.path, string(f.text), f.mode)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		os.Remove(f.path) // what was written of it
	}
	return err
}

// told says what was written and what it needs.
func (cmd *Taker) told(folder string, h *examples.Hook) {
	p := cmd.Console.Out
	p.Print("wrote %s  %s\n", p.In(show.Name, shown(filepath.Join(folder, h.File))), h.Why)
	p.Print("wrote %s\n", p.In(show.Name, shown(filepath.Join(folder, h.TestFile))))
	if len(h.Needs) > 0 {
		p.Print("  needs %s%s\n", strings.Join(h.Needs, ", "), missing(h.Needs))
	}
	for _, o := range h.Options {
		p.Print("  option %s: %s\n", o.Name, o.Meaning)
	}
}

// next prints the commands that come next.
func (cmd *Taker) next(hooks []examples.Hook, o Options) {
	p := cmd.Console.Out
	var names []string
	for i := range hooks {
		name := hooks[i].File
		if hooks[i].Rules {
			name = hooks[i].Name
		}
		names = append(names, name)
	}
	if o.User {
		p.Print("they count in every project from now on\n")
	} else {
		p.Print("look at it and let it run:  %s\n", p.In(show.Name, "hookd trust"))
	}
	p.Print("run the tests beside it:    %s\n", p.In(show.Name, "hookd test "+strings.Join(names, " ")))
}

// missing says which programs are not on PATH.
func missing(programs []string) string {
	var gone []string
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			gone = append(gone, name)
		}
	}
	if len(gone) == 0 {
		return ""
	}
	return " (not on this machine: " + strings.Join(gone, ", ") + ")"
}

// shown is a path as the person would type it: from the working directory if it lies below
// that.
func shown(path string) string {
	if wd, err := os.Getwd(); err == nil {
		if below, err := filepath.Rel(wd, path); err == nil && filepath.IsLocal(below) {
			path = below
		}
	}
	return show.Line(path)
}
