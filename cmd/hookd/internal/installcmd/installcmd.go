package installcmd

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/loader/install"
)

// Commands are hookd install and uninstall.
type Commands struct {
	Console   *cli.Console
	Project   *places.Project
	Processes *engine.Processes
}

// flags are those of both commands.
type flags struct {
	user, managed bool
	project       string // "" is not given, "." the project here
	dryRun, yes   bool
	diff          bool // show every line that changes
	warm          bool
	status        bool
	detect        bool
	verify        bool
	monitor       monitorFlags
}

// Install returns hookd install.
func (cmd *Commands) Install() *cobra.Command {
	var f flags
	c := &cobra.Command{
		Use:   "install AGENT...",
		Short: "Have other agents run hookd's hooks: edit their configuration",
		Long: `Put hookd into the hook settings of other agents. Every byte of their files that is
not hookd's stays as it is, and hookd uninstall gives back the bytes from before. The
changes are shown first, then one question is asked.

Agents: ` + strings.Join(install.Names(), ", ") + `.
Any other agent that an editor starts is guarded by hookd acp, and the tools of
MCP servers by hookd mcp, whatever calls them.

The events are those that the installed version of the agent knows: it is asked for
its version. An earlier installation is repaired, not repeated.`,
		ValidArgs: install.Names(),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 && !f.status && !f.detect && !f.verify {
				return cli.Usage("usage", "which agent? One or more of "+strings.Join(install.Names(), ", "), "hookd install --detect shows which are here")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case f.status:
				return cmd.status(c.Context(), f, args)
			case f.detect:
				return cmd.detect(c.Context(), f)
			case f.verify:
				return cmd.verify(c.Context(), &f, args, true)
			}
			return cmd.install(c.Context(), f, args)
		},
	}
	f.register(c)
	c.Flags().BoolVar(&f.warm, "warm", false, "let agents start the small hookd-bridge, which asks a daemon")
	c.Flags().BoolVar(&f.status, "status", false, "show where hookd is installed, and what keeps it from working")
	c.Flags().BoolVar(&f.detect, "detect", false, "show which agents are here")
	c.Flags().BoolVar(&f.verify, "verify", false, "say whether what is installed is alive, as hookd verify does")
	c.Flags().BoolVar(&f.monitor.on, "monitor", false, "let hooks only watch for these agents: nothing is refused but by managed and required hooks and self-protection")
	cli.NameFlag(c.Flags(), &f.monitor.until, "until", "", "the `DATE` when --monitor ends: 2026-12-24, 3d, 12h (default 7 days)")
	cli.Exclusive(c, "status", "detect", "verify", "dry-run", "yes")
	cli.Exclusive(c, "status", "detect", "verify", "diff")
	cli.Exclusive(c, "monitor", "status", "detect", "verify", "dry-run")
	cmd.Console.JSONFlag(c)
	return c
}

// Uninstall returns hookd uninstall.
func (cmd *Commands) Uninstall() *cobra.Command {
	var f flags
	c := &cobra.Command{
		Use:   "uninstall AGENT...",
		Short: "Take hookd out of the configuration of other agents",
		Long: `Take hookd's entries out of the hook settings of other agents, those of the person and
of this project unless a flag names one of them. Files have the bytes from before the
installation afterwards, with what was added to them since.`,
		ValidArgs: install.Names(),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usage("usage", "which agent? One or more of "+strings.Join(install.Names(), ", "), "hookd install --status shows where hookd is installed")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return cmd.uninstall(c.Context(), f, args) },
	}
	f.register(c)
	return c
}

func (f *flags) register(c *cobra.Command) {
	c.Flags().BoolVar(&f.user, "user", false, "the settings of this person, for all projects (default)")
	c.Flags().StringVar(&f.project, "project", "", "the settings that belong to the project here, or to --project=`DIR`")
	c.Flags().Lookup("project").NoOptDefVal = "."
	c.Flags().BoolVar(&f.managed, "managed", false, "the protected settings of the machine, which its administrator may write")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "show the changes and write nothing")
	c.Flags().BoolVar(&f.diff, "diff", false, "show every line that changes, also of long changes")
	c.Flags().BoolVar(&f.yes, "yes", false, "write without asking")
	cli.Exclusive(c, "user", "project", "managed")
	cli.Exclusive(c, "dry-run", "yes")
}

// scope returns the scope that the flags name.
func (f *flags) scope() (s install.Scope, named bool) {
	switch {
	case f.managed:
		return install.Managed, true
	case f.project != "":
		return install.Project, true
	}
	return install.User, f.user
}

// agents returns the agents of some names.
func agents(names []string) ([]*install.Agent, error) {
	var list []*install.Agent
	for _, name := range names {
		a := install.Find(name)
		if a == nil {
			hint := "one of " + strings.Join(install.Names(), ", ") + "; any other agent that an editor starts is guarded by hookd acp -- AGENT, and MCP servers by hookd mcp -- SERVER"
			if near := text.Nearest(name, install.Names()); near != "" {
				hint = "did you mean " + near + "?"
			}
			return nil, cli.Usage("unknown-agent", "hookd knows no agent "+show.Line(name), hint)
		}
		if !slices.Contains(list, a) {
			list = append(list, a)
		}
	}
	return list, nil
}

// installer returns the installer for this person and project.
func (cmd *Commands) installer(f *flags) (*install.Installer, error) {
	state, err := places.StateDir()
	if err != nil {
		return nil, err
	}
	project, err := cmd.root(f)
	if err != nil {
		return nil, err
	}
	in, err := install.Here(state, project)
	if err != nil {
		return nil, cli.Failed("no-home", err, "set HOME")
	}
	return in, nil
}

// root returns the root of the project: the folder that a flag names, else the nearest
// one from the working directory upwards with .acai or .git in it, else the working
// directory where the project's settings are meant, and "" where they are not.
func (cmd *Commands) root(f *flags) (string, error) {
	folder := f.project
	if folder == "" || folder == "." {
		folder = cmd.Project.Folder
	}
	if folder != "" {
		p := places.Project{Folder: folder}
		return p.WriteFolder()
	}
	wd, err := os.Getwd()
	if err != nil {
		return "", places.NoDirectory()
	}
	home, _ := os.UserHomeDir()
	for dir := wd; dir != home && filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
		for _, mark := range []string{".acai", ".git"} {
			if _, err := os.Lstat(filepath.Join(dir, mark)); err == nil {
				return dir, nil
			}
		}
	}
	if f.project != "" {
		return wd, nil
	}
	return "", nil
}

// mayWrite refuses below a hook or an agent's tool: who runs hooks is a person's decision.
// Below another agent hookd may be installed, and not taken out.
func mayWrite(takesOut bool) error {
	may := loader.MayInstall
	if takesOut {
		may = loader.MayDecide
	}
	if err := may(); err != nil {
		return cli.Usage("below-a-hook", "settings of agents are not written below a hook or an agent run", "run the command in a terminal of your own")
	}
	return nil
}

// fault says why a file was not planned or written.
func fault(err error) error {
	var file *install.FileError
	switch {
	case errors.As(err, &file):
		return cli.Usage("not-installed", show.Line(file.Error()), file.Remedy)
	case errors.Is(err, install.ErrNoPlace):
		return cli.Usage("not-installed", err.Error(), "hookd install --help names the scopes")
	}
	return cli.Usage("not-installed", err.Error(), "")
}
