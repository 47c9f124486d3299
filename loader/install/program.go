package install

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/executor/process"
)

// Runner runs a program, as [process.Runtime] does.
type Runner interface {
	Run(ctx context.Context, c *process.Command) process.Result
}

// Found is an agent on this machine.
type Found struct {
	Agent   *Agent
	Program string  // its path, "" if only its configuration is there
	Version Version // the zero value if it was not asked or did not say
	Folder  string  // its configuration, "" if there is none
	Problem string  // why the version is not known
}

// versionLimit is how long an agent may take to say its version. Those that are written
// in JavaScript take seconds.
const versionLimit = 10 * time.Second

// Detect returns the agents that are here: their program is on PATH, or they have a
// folder of configuration. Their versions are asked for with run, side by side; nil asks
// nobody.
func (in *Installer) Detect(ctx context.Context, run Runner, environ []string) []Found {
	var found []Found
	for _, a := range Agents {
		f := in.look(a, environ)
		if f.Program != "" || f.Folder != "" {
			found = append(found, f)
		}
	}
	if run != nil {
		in.askAll(ctx, run, environ, found)
	}
	return found
}

// Look returns what is here of one agent, and asks it for its version.
func (in *Installer) Look(ctx context.Context, run Runner, environ []string, a *Agent) Found {
	found := []Found{in.look(a, environ)}
	in.askAll(ctx, run, environ, found)
	return found[0]
}

func (in *Installer) askAll(ctx context.Context, run Runner, environ []string, found []Found) {
	var wait sync.WaitGroup
	for i := range found {
		if found[i].Program != "" {
			wait.Go(func() { in.ask(ctx, run, environ, &found[i]) })
		}
	}
	wait.Wait()
}

func (in *Installer) look(a *Agent, environ []string) Found {
	f := Found{Agent: a}
	for _, name := range a.Programs {
		if f.Program = in.search(name, environ); f.Program != "" {
			break
		}
	}
	for _, path := range a.Paths(in.Places, User) {
		// The folder that the agent itself makes: two levels up for files in a folder of hooks.
		for dir := filepath.Dir(path); f.Folder == "" && len(dir) > len(in.Places.Home); dir = filepath.Dir(dir) {
			if info, err := os.Stat(dir); err == nil && info.IsDir() && !in.sharedFolder(dir) {
				f.Folder = dir
			}
		}
	}
	return f
}

// sharedFolder reports whether a folder says nothing about an agent.
func (in *Installer) sharedFolder(dir string) bool {
	return slices.Contains([]string{in.Places.Home, in.Places.config(), filepath.Join(in.Places.Home, ".agents"), filepath.Join(in.Places.Home, ".agents", "plugins"),
		filepath.Join(in.Places.Home, "Documents"), filepath.Join(in.Places.Home, ".codeium")}, dir)
}

// search looks for a program on PATH. Folders inside the project are passed over: what a
// project brings along is not started.
func (in *Installer) search(name string, environ []string) string {
	for _, dir := range filepath.SplitList(variable(in.environment(environ), "PATH")) {
		for _, suffix := range programSuffixes() {
			path := filepath.Join(dir, name+suffix)
			info, err := os.Stat(path)
			if err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0) && filepath.IsAbs(path) && !in.insideProject(path) {
				return path
			}
		}
	}
	return ""
}

func programSuffixes() []string {
	if runtime.GOOS == "windows" {
		return []string{".exe", ".cmd"}
	}
	return []string{""}
}

// insideProject reports whether a file, links followed, belongs to the project.
func (in *Installer) insideProject(path string) bool {
	if in.Places.Project == "" {
		return false
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return true
	}
	project, err := filepath.EvalSymlinks(in.Places.Project)
	if err != nil || project == in.Places.Home {
		return false
	}
	below, err := filepath.Rel(project, real)
	return err == nil && below != ".." && !strings.HasPrefix(below, ".."+string(filepath.Separator))
}

// environment is what an agent gets that is asked for its version: what hooks may see,
// and that it is not to look for a newer one.
func (in *Installer) environment(environ []string) []string {
	allowed := hookenv.Allowed(hookenv.Config{Environ: environ, Project: in.Places.Project})
	return append(allowed, "DISABLE_AUTOUPDATER=1", "NO_UPDATE_NOTIFIER=1", "COPILOT_AUTO_UPDATE=false", "OPENCODE_DISABLE_AUTOUPDATE=1", "NO_COLOR=1")
}

func variable(environ []string, name string) string {
	for _, v := range environ {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

// ask starts the agent with --version, in a folder in which nobody keeps settings.
func (in *Installer) ask(ctx context.Context, run Runner, environ []string, f *Found) {
	ctx, cancel := context.WithTimeout(ctx, versionLimit)
	defer cancel()
	dir := string(filepath.Separator)
	if runtime.GOOS == "windows" {
		dir = os.TempDir()
	}
	result := run.Run(ctx, &process.Command{Path: f.Program, Argv: []string{f.Program, "--version"}, Dir: dir, Env: in.environment(environ), StdoutLimit: 64 << 10, Grace: -1})
	<-result.Gone
	switch {
	case result.Err != nil:
		f.Problem = fmt.Sprintf("%s --version: %v", f.Program, result.Err)
	case result.ExitCode != 0:
		f.Problem = fmt.Sprintf("%s --version ended with exit code %d", f.Program, result.ExitCode)
	default:
		if f.Version = ParseVersion(string(result.Stdout)); !f.Version.Known() {
			f.Problem = f.Program + " --version names no version"
		}
	}
}

// Version is a version of an agent. The zero value is: not known.
type Version struct{ Major, Minor, Patch int }

// Known reports whether the version is known.
func (v Version) Known() bool { return v != Version{} }

func (v Version) String() string {
	if !v.Known() {
		return "unknown"
	}
	return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch)
}

// Compare returns -1, 0 or 1 where v is older than, the same as or newer than w.
func (v Version) Compare(w Version) int {
	return cmp.Or(cmp.Compare(v.Major, w.Major), cmp.Compare(v.Minor, w.Minor), cmp.Compare(v.Patch, w.Patch))
}

var versionText = regexp.MustCompile(`(?:^|[^0-9.])v?([0-9]{1,6})\.([0-9]{1,6})(?:\.([0-9]{1,6}))?`)

// ParseVersion returns the first version that a text names, such as the answer of an
// agent to --version.
func ParseVersion(text string) Version {
	m := versionText.FindStringSubmatch(text)
	if m == nil {
		return Version{}
	}
	number := func(digits string) int { n, _ := strconv.Atoi(digits); return n }
	return Version{number(m[1]), number(m[2]), number(m[3])}
}
