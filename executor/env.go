package executor

import (
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// EnvConfig is what the environment of programs is made from (§2).
type EnvConfig struct {
	Environ []string // ours, as of os.Environ
	Project string   // project root; entries of PATH inside it are dropped
	Path    []string // folders put before PATH; relative ones are below Project
	Names   []string // variables passed besides the allow list

	// Machine says that the program is a machine's, which the caller's environment
	// must not steer: see [Variables]. Its PATH is Path and [FixedPath].
	Machine bool

	// Usable, if set, says which folders of PATH are passed on.
	Usable func(folder string) bool
}

// Variables set by hookd itself. What a hook or setting names never replaces one.
const (
	EnvAction      = "HOOK_ACTION"
	EnvEvent       = "HOOK_EVENT"
	EnvProjectDir  = "HOOK_PROJECT_DIR"
	EnvSessionID   = "HOOK_SESSION_ID"
	EnvFile        = "HOOK_FILE"
	EnvDepth       = "HOOK_DEPTH"
	EnvMode        = "HOOK_MODE"
	EnvTraceparent = "TRACEPARENT"
	EnvProgram     = "HOOKD"
)

// Values of HOOK_ACTION.
const (
	ActionExecute  = "execute"
	ActionDescribe = "describe"
)

// AllowedEnv returns the variables that a program which hookd starts may see:
// the allow list and what is named, never a host's secrets. It also passes on
// HOOK_DEPTH, one greater than ours, so that whatever an agent starts knows how
// deep it is.
func AllowedEnv(c EnvConfig) []string {
	env := []string{"PATH=" + searchPath(&c), EnvDepth + "=" + strconv.Itoa(max(Depth(c.Environ), ProcessDepth())+1)}
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
		env = append(env, NoUserSite)
	}
	return env
}

// HookEnv returns the part of a hook's environment that is the same for all its
// events: the allow list, HOOK_ACTION, HOOK_PROJECT_DIR, HOOK_FILE and
// HOOK_DEPTH. file names the hook's own file, action is ActionExecute or
// ActionDescribe.
func HookEnv(c EnvConfig, action, file string) []string {
	return append(AllowedEnv(c),
		EnvAction+"="+action,
		EnvProjectDir+"="+c.Project,
		EnvFile+"="+file,
	)
}

// sameName follows the platform: on Windows the case of a variable's name does
// not count.
func sameName(names []string, name string) bool {
	if runtime.GOOS == "windows" {
		return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
	}
	return slices.Contains(names, name)
}

// addFromUserDatabase fills in HOME and USER if we have none ourselves. Without
// an entry there they stay absent for the machine's hooks; those of others get the
// caller's.
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

// fallbackPath stands in for a PATH of which nothing may be used: an empty one
// would mean the working directory.
const fallbackPath = "/usr/bin:/bin"

// FixedPath are the folders where programs are looked for whatever the caller's
// PATH says: what was allowed in one shell starts alike in every other.
var FixedPath = []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}

// searchPath returns PATH for programs: the folders of settings, then ours
// without those that a project could fill, each once.
func searchPath(c *EnvConfig) string {
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
	ours := filepath.SplitList(ourPath(c.Environ))
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

func ourPath(environ []string) string {
	for _, variable := range environ {
		name, value, ok := strings.Cut(variable, "=")
		if ok && sameName([]string{"PATH"}, name) {
			return value
		}
	}
	return ""
}

// inside reports whether a folder is the project or lies in it, as written or
// behind its symbolic links; realProject is the project behind its own.
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
