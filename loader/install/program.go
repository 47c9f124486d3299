package install

import (
	"cmp"
	"context"
	"errors"
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
	search := finder{in.Places, environ}
	var found []Found
	for _, a := range Agents {
		if here := search.look(a); here.Program != "" || here.Folder != "" {
			found = append(found, here)
		}
	}
	if run != nil {
		search.askAll(ctx, run, found)
	}
	return found
}

// Look returns what is here of one agent, and asks it for its version.
func (in *Installer) Look(ctx context.Context, run Runner, environ []string, a *Agent) Found {
	search := finder{in.Places, environ}
	found := []Found{search.look(a)}
	search.askAll(ctx, run, found)
	return found[0]
}

// finder looks for agents as a process with this environment would find them.
type finder struct {
	Places
	environ []string
}

func (f finder) askAll(ctx context.Context, run Runner, found []Found) {
	var wait sync.WaitGroup
	for i := range found {
		if found[i].Program != "" {
			wait.Go(func() { f.ask(ctx, run, &found[i]) })
		}
	}
	wait.Wait()
}

func (f finder) look(a *Agent) Found {
	here := Found{Agent: a}
	for _, name := range a.Programs {
		if here.Program = f.search(name); here.Program != "" {
			break
		}
	}
	for _, path := range a.Paths(f.Places, User) {
		// The folder that the agent itself makes: two levels up for files in a folder of hooks.
		for dir := filepath.Dir(path); here.Folder == "" && len(dir) > len(f.Places.Home); dir = filepath.Dir(dir) {
			if info, err := os.Stat(dir); err == nil && info.IsDir() && !f.sharedFolder(dir) {
				here.Folder = dir
			}
		}
	}
	return here
}

// sharedFolder reports whether a folder says nothing about an agent.
func (f finder) sharedFolder(dir string) bool {
	return slices.Contains([]string{f.Places.Home, f.Places.config(), filepath.Join(f.Places.Home, ".agents"), filepath.Join(f.Places.Home, ".agents", "plugins"),
		filepath.Join(f.Places.Home, "Documents"), filepath.Join(f.Places.Home, ".codeium")}, dir)
}

// search looks for a program on PATH. Folders inside the project are passed over: what a
// project brings along is not started.
func (f finder) search(name string) string {
	for _, dir := range filepath.SplitList(variable(f.environment(), "PATH")) {
		for _, suffix := range programSuffixes() {
			path := filepath.Join(dir, name+suffix)
			info, err := os.Stat(path)
			if err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0) && filepath.IsAbs(path) && !f.insideProject(path) {
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
func (f finder) insideProject(path string) bool {
	if f.Places.Project == "" {
		return false
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return true
	}
	project, err := filepath.EvalSymlinks(f.Places.Project)
	if err != nil || project == f.Places.Home {
		return false
	}
	below, err := filepath.Rel(project, real)
	return err == nil && below != ".." && !strings.HasPrefix(below, ".."+string(filepath.Separator))
}

// environment is what an agent gets that is asked for its version: what hooks may see,
// and that it is not to look for a newer one.
func (f finder) environment() []string {
	allowed := hookenv.Allowed(hookenv.Config{Environ: f.environ, Project: f.Places.Project})
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
func (f finder) ask(ctx context.Context, run Runner, found *Found) {
	ctx, cancel := context.WithTimeout(ctx, versionLimit)
	defer cancel()
	dir := string(filepath.Separator)
	if runtime.GOOS == "windows" {
		dir = os.TempDir()
	}
	result := run.Run(ctx, &process.Command{Path: found.Program, Argv: []string{found.Program, "--version"}, Dir: dir, Env: f.environment(), StdoutLimit: 64 << 10, Grace: -1})
	<-result.Gone
	switch {
	case errors.Is(result.Err, context.DeadlineExceeded):
		found.Problem = fmt.Sprintf("%s --version did not answer within %s", found.Program, versionLimit)
	case result.Err != nil:
		found.Problem = fmt.Sprintf("%s --version: %v", found.Program, result.Err)
	case result.ExitCode != 0:
		found.Problem = fmt.Sprintf("%s --version ended with exit code %d", found.Program, result.ExitCode)
	default:
		if found.Version = ParseVersion(string(result.Stdout)); !found.Version.Known() {
			found.Problem = found.Program + " --version names no version"
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

var versionText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[^0-9.])v?([0-9]{1,6})\.([0-9]{1,6})(?:\.([0-9]{1,6}))?`)
})

// ParseVersion returns the first version that a text names, such as the answer of an
// agent to --version.
func ParseVersion(text string) Version {
	m := versionText().FindStringSubmatch(text)
	if m == nil {
		return Version{}
	}
	number := func(digits string) int { n, _ := strconv.Atoi(digits); return n }
	return Version{number(m[1]), number(m[2]), number(m[3])}
}
