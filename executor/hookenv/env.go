package hookenv

import (
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Config is what the environment of a program is made from (docs/environment.md).
type Config struct {
	Environ []string // of this process, as os.Environ returns it
	Project string   // project root; folders of PATH inside it are dropped
	Path    []string // folders put before PATH; relative ones are below Project
	Names   []string // variables passed on besides the allow list

	// Machine says that the program belongs to the machine, so that the caller's
	// environment must not steer it: see [Variables]. Its PATH is Path and
	// [FixedPath].
	Machine bool

	// Usable, if set, reports whether a folder of PATH is passed on.
	Usable func(folder string) bool
}

// Variables that hookd sets. No hook and no setting can replace one by naming it.
const (
	VarAction      = "HOOK_ACTION"
	VarEvent       = "HOOK_EVENT"
	VarProjectDir  = "HOOK_PROJECT_DIR"
	VarSessionID   = "HOOK_SESSION_ID"
	VarFile        = "HOOK_FILE"
	VarDepth       = "HOOK_DEPTH"
	VarMode        = "HOOK_MODE"
	VarTraceparent = "TRACEPARENT"
	VarProgram     = "HOOKD"
)

// Values of HOOK_ACTION.
const (
	Execute  = "execute"
	Describe = "describe"
)

// Allowed returns the variables that a program which hookd starts may see: the
// allow list and what c names. HOOK_DEPTH is among them, one greater than that of
// this process.
func Allowed(c Config) []string {
	env := []string{"PATH=" + searchPath(&c), VarDepth + "=" + strconv.Itoa(max(depthIn(c.Environ), ProcessDepth())+1)}
	seen := make(map[string]bool)
	for _, variable := range c.Environ {
		name, value, ok := strings.Cut(variable, "=")
		if !ok || name == "" || seen[name] || setByUs(name) || !c.passes(name) {
			continue
		}
		if name == "HOME" && value == "" {
			continue
		}
		seen[name] = true
		env = append(env, variable)
	}
	if runtime.GOOS != "windows" {
		env = addFromUserDatabase(env, seen, c.Machine)
	}
	if c.Machine {
		env = append(env, noUserSite)
	}
	return env
}

// ForHook returns the part of a hook's environment that is the same for all its
// events: what [Allowed] returns, HOOK_ACTION, HOOK_PROJECT_DIR and HOOK_FILE.
// action is [Execute] or [Describe], file names the hook's own file.
func ForHook(c Config, action, file string) []string {
	return append(Allowed(c),
		VarAction+"="+action,
		VarProjectDir+"="+c.Project,
		VarFile+"="+file,
	)
}

// Visible returns the variables of an environment that hooks may see, sorted: those of the
// allow list, PATH, and those that names holds, which hooks and settings name.
func Visible(environ, names []string) []string {
	c := Config{Names: names}
	var visible []string
	seen := map[string]bool{}
	for _, variable := range environ {
		name, _, ok := strings.Cut(variable, "=")
		if ok && !seen[name] && (name == "PATH" || !setByUs(name)) && c.passes(name) {
			seen[name] = true
			visible = append(visible, variable)
		}
	}
	slices.Sort(visible)
	return visible
}

// sameName reports whether name is one of names. On Windows the case of a
// variable's name does not count.
func sameName(names []string, name string) bool {
	if runtime.GOOS == "windows" {
		return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
	}
	return slices.Contains(names, name)
}

// addFromUserDatabase fills in HOME and USER where this process has none. Where
// the database has no entry, a machine's hook gets neither of them, and the hooks
// of others get the caller's.
func addFromUserDatabase(env []string, seen map[string]bool, machine bool) []string {
	if seen["HOME"] && seen["USER"] {
		return env
	}
	account, err := user.LookupId(strconv.Itoa(os.Getuid()))
	if machine {
		account, err = Account()
	}
	if err != nil {
		return env
	}
	if !seen["HOME"] && account.HomeDir != "" {
		env = append(env, "HOME="+account.HomeDir)
	}
	if !seen["USER"] && account.Username != "" {
		env = append(env, "USER="+account.Username)
	}
	return env
}

// fallbackPath is used where no folder of PATH may be used: an empty PATH would
// mean the working directory.
const fallbackPath = "/usr/bin:/bin"

// FixedPath lists the folders in which programs are found whatever the caller's
// PATH says: a program that was allowed in one shell starts alike in every other.
var FixedPath = []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}

// searchPath returns PATH for programs: the folders of settings, then those of this
// process without the ones that a project could fill, each once.
func searchPath(c *Config) string {
	var folders []string
	add := func(folder string) {
		if !slices.ContainsFunc(folders, func(f string) bool { return filepath.Clean(f) == filepath.Clean(folder) }) {
			folders = append(folders, folder)
		}
	}
	for _, folder := range c.Path {
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(c.Project, folder)
		}
		if filepath.IsAbs(folder) && !strings.ContainsRune(folder, filepath.ListSeparator) {
			add(folder)
		}
	}
	project := ""
	if c.Project != "" {
		project = real(c.Project) // once, not once per folder
	}
	ours := filepath.SplitList(PathOf(c.Environ))
	if c.Machine {
		ours = FixedPath
	}
	for _, folder := range ours {
		if filepath.IsAbs(folder) && !inside(folder, c.Project, project) && (c.Usable == nil || c.Usable(folder)) {
			add(folder)
		}
	}
	if len(folders) == 0 && runtime.GOOS != "windows" {
		return fallbackPath
	}
	return strings.Join(folders, string(filepath.ListSeparator))
}

// PathOf returns the value of PATH in an environment.
func PathOf(environ []string) string {
	for _, variable := range environ {
		name, value, ok := strings.Cut(variable, "=")
		if ok && sameName([]string{"PATH"}, name) {
			return value
		}
	}
	return ""
}

// inside reports whether a folder is the project or lies in it, as written or with
// its symbolic links resolved; realProject is the project with its links resolved.
func inside(folder, project, realProject string) bool {
	if project == "" {
		return false
	}
	return below(folder, project) || below(real(folder), realProject)
}

func below(folder, root string) bool {
	relative, err := filepath.Rel(root, filepath.Clean(folder))
	return err == nil && relative != ".." && !strings.HasPrefix(relative, ".."+string(filepath.Separator))
}

func real(path string) string {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	return path
}
