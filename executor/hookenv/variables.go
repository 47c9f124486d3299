package hookenv

import (
	"fmt"
	"runtime"
	"strings"
)

// Variable is one variable that a hook may find in its environment.
type Variable struct {
	Name  string // a name that ends with * stands for all that begin so
	From  string // where its value comes from: one of the words below
	Whose string // whose hooks get it without naming it: P project, U user, M machine
	Why   string
}

// Where a variable's value comes from.
const (
	fromCaller   = "caller"
	fromDatabase = "user database" // of the system; the caller's for P and U, if he has one
	fromHookd    = "hookd"
)

// noUserSite keeps Python from loading code of the user's own site folder, and
// SafePath from looking for modules in the working directory.
const (
	noUserSite = "PYTHONNOUSERSITE=1"
	SafePath   = "PYTHONSAFEPATH=1"
)

// Variables is the whole environment of hooks. A variable that is not in this table
// reaches a hook only if the hook's env, or hooks.env of its own layer, names it.
var Variables = []Variable{
	{"PATH", fromHookd, "PUM", "where programs are found. First `hooks.path` of the hook's layer; then for P and U the caller's PATH without relative folders and without folders in a project or checkout; for M the fixed folders that only root can write to. Each folder once"},
	{"HOME", fromDatabase, "PUM", "programs look for their settings there. For M never the caller's value: the caller would choose which settings a machine's hook reads"},
	{"USER", fromDatabase, "PUM", "as HOME"},
	{"LANG", fromCaller, "PUM", "without it text that is not ASCII breaks in many programs"},
	{"LC_*", fromCaller, "PUM", "as LANG"},
	{"TZ", fromCaller, "PUM", "hooks that print or judge times"},
	{"TMPDIR", fromCaller, "PU", "where temporary files belong on this machine. A machine's hook uses the system's own"},
	{"HTTP_PROXY", fromCaller, "PU", "hooks that ask a service. The machine's must not send what they see through a proxy that a user chose; `hooks.env` of its settings can name it"},
	{"HTTPS_PROXY", fromCaller, "PU", "as HTTP_PROXY"},
	{"FTP_PROXY", fromCaller, "PU", "as HTTP_PROXY"},
	{"ALL_PROXY", fromCaller, "PU", "as HTTP_PROXY"},
	{"NO_PROXY", fromCaller, "PU", "as HTTP_PROXY"},
	{"http_proxy", fromCaller, "PU", "programs differ in which spelling they read"},
	{"https_proxy", fromCaller, "PU", "as http_proxy"},
	{"ftp_proxy", fromCaller, "PU", "as http_proxy"},
	{"all_proxy", fromCaller, "PU", "as http_proxy"},
	{"no_proxy", fromCaller, "PU", "as http_proxy"},
	{"SSL_CERT_*", fromCaller, "PU", "certificates of a company's proxy. The machine's hooks must not believe a certificate that a user chose"},
	{"PYTHONNOUSERSITE", fromHookd, "M", "Python loads no code of the user's site folder into a machine's hook"},
	{"PYTHONSAFEPATH", fromHookd, "PUM", "only for a `command` of Python with `-m` or `-c`: no module is looked for in the working directory"},
	{VarAction, fromHookd, "PUM", "`execute`, or `describe` when the program is asked what it is for"},
	{VarEvent, fromHookd, "PUM", "the event's name; not for standby and resident hooks, which start before their event"},
	{VarProjectDir, fromHookd, "PUM", "the project's root, wherever the hook starts"},
	{VarSessionID, fromHookd, "PUM", "the session, if there is one; not for standby and resident hooks"},
	{VarFile, fromHookd, "PUM", "the hook's own file; `$0` is the private copy that runs"},
	{VarDepth, fromHookd, "PUM", "how many agents deep the hook runs"},
	{VarMode, fromHookd, "PUM", "`standby` or `resident`, for such hooks only"},
	{VarProgram, fromHookd, "PUM", "the absolute path of the hookd that runs the hook, for `\"$HOOKD\" get` and `\"$HOOKD\" reply`; where another program runs its packages, the hookd on the hook's `PATH`"},
	{VarTraceparent, fromHookd, "PUM", "names the run, for tracing; hookd finds processes that escaped by it"},
}

// windowsNames lists the variables without which a program on Windows does not
// start or finds no folder.
var windowsNames = []string{
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP",
	"USERPROFILE", "USERNAME", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA",
	"PROGRAMDATA", "PROGRAMFILES", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE",
}

// Markdown returns the table of [Variables] for the documentation.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| variable | value from | whose hooks | why |\n|---|---|---|---|\n")
	for _, v := range Variables {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", v.Name, v.From, strings.Join(strings.Split(v.Whose, ""), " "), v.Why)
	}
	return b.String()
}

// is reports whether the row is about the variable of that name.
func (v *Variable) is(name string) bool {
	if prefix, ok := strings.CutSuffix(v.Name, "*"); ok {
		return strings.HasPrefix(name, prefix)
	}
	return sameName([]string{v.Name}, name)
}

// Lookup returns the row about a variable, nil if there is none.
func Lookup(name string) *Variable {
	for i := range Variables {
		if Variables[i].is(name) {
			return &Variables[i]
		}
	}
	return nil
}

// setByUs reports whether only hookd sets a variable, so that naming it passes
// nothing on.
func setByUs(name string) bool {
	v := Lookup(name)
	return v != nil && v.From == fromHookd
}

// passes reports whether the caller's value of a variable reaches the program.
func (c *Config) passes(name string) bool {
	if sameName(c.Names, name) {
		return true
	}
	if runtime.GOOS == "windows" && sameName(windowsNames, name) {
		return true
	}
	v := Lookup(name)
	return v != nil && (!c.Machine || v.From == fromCaller && strings.Contains(v.Whose, "M"))
}
