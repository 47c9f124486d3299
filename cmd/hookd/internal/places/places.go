package places

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/loader"
)

// Project is the project that a command works in.
type Project struct {
	Folder string // --project; "": found from Cwd upwards
	Cwd    string // absolute; "": the working directory of the process
}

// WorkingDir returns the working directory, absolute.
func (p *Project) WorkingDir() (string, error) {
	if p.Cwd != "" {
		return p.Cwd, nil
	}
	wd, err := os.Getwd()
	if err != nil {
		return "", NoDirectory()
	}
	return wd, nil
}

// WriteFolder returns the folder that init and new write to: --project, or the working
// directory. Its folder of hooks lies in it: a link of a clone must not lead what is written
// into the person's own hooks, which need no trust.
func (p *Project) WriteFolder() (string, error) {
	folder, err := p.writeFolder()
	if err != nil {
		return "", err
	}
	root, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return "", cli.Failed("no-directory", err, "")
	}
	for _, name := range []string{".acai", filepath.Join(".acai", "hooks")} {
		real, err := filepath.EvalSymlinks(filepath.Join(root, name))
		if errors.Is(err, fs.ErrNotExist) {
			if info, err := os.Lstat(filepath.Join(root, name)); err == nil && info.Mode()&fs.ModeSymlink != 0 {
				return "", cli.Usage("folder-leads-away", name+" is a link that leads nowhere", "remove the link, or make what it leads to")
			}
			break
		}
		if err != nil {
			return "", cli.Failed("no-directory", err, "")
		}
		if below, err := filepath.Rel(root, real); err != nil || !filepath.IsLocal(below) {
			return "", cli.Usage("folder-leads-away", name+" is a link to "+real+", outside of this project", "write there by hand, or give --project the folder that you mean")
		}
	}
	return folder, nil
}

func (p *Project) writeFolder() (string, error) {
	if p.Folder == "" {
		return p.WorkingDir()
	}
	folder, err := filepath.Abs(p.Folder)
	if err != nil {
		return "", cli.Failed("no-directory", err, "")
	}
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return "", cli.Usage("no-project", folder+" is not a folder", "give --project a folder that exists")
	}
	return folder, nil
}

// OpenTrust opens the decisions of the person about the project.
func (p *Project) OpenTrust() (*loader.Trust, error) { return p.openTrust(false) }

// OpenDecision is OpenTrust for who decides: a folder with AGENTS.md and nothing of hookd is
// something to decide about, too.
func (p *Project) OpenDecision() (*loader.Trust, error) { return p.openTrust(true) }

func (p *Project) openTrust(instructions bool) (*loader.Trust, error) {
	trust, err := loader.OpenTrust(loader.Options{Project: p.Folder, Cwd: p.Cwd, Instructions: instructions})
	if err != nil {
		return nil, NoProject(err)
	}
	return trust, nil
}

// Root returns the root folder of the project, "" outside of any. It runs no hook.
func (p *Project) Root(ctx context.Context) (string, error) {
	snapshot, err := loader.Load(ctx, loader.Options{Project: p.Folder, Cwd: p.Cwd})
	if err != nil {
		return "", NoProject(err)
	}
	return snapshot.Set.Project, nil
}

// NoDirectory returns the fault of a command whose working directory is missing.
func NoDirectory() *cli.Fault {
	return cli.Failed("no-directory", errors.New("the working directory is missing"), "change to a folder that exists")
}

// NoProject returns the fault of a command whose hooks could not be loaded at all.
func NoProject(err error) error {
	if _, wdErr := os.Getwd(); wdErr != nil {
		return NoDirectory()
	}
	hint := ""
	if errors.Is(err, loader.ErrState) {
		hint = "set XDG_STATE_HOME to a folder of yours outside of the project"
	}
	return cli.Usage("no-project", err.Error(), hint)
}

// StateDir returns the folder of records, sessions and conversations.
func StateDir() (string, error) {
	dir, err := executor.StateDir()
	if err != nil {
		return "", cli.Failed("no-state", err, "make $XDG_STATE_HOME (or ~/.local/state) a folder that you can write to")
	}
	return dir, nil
}

// Conversations returns the folder of the sessions of hookd run.
func Conversations(stateDir string) string { return filepath.Join(stateDir, "conversations") }

// Program returns the path of this program, for its hooks. Where the system does not tell
// it the path is empty, and a hook that needs it fails, as a guard should.
func Program() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	return path
}
