package loader

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/loader/internal/report"
)

// lineLeadsInside refuses an interpreter line that may run code of the project,
// beside the hook's own: "#!/bin/sh x.sh" runs x.sh of the working directory,
// "env -S PYTHONPATH=lib python3" loads modules from there, whatever the hook's
// file says.
func (in *place) lineLeadsInside(l *firstWords) *report.Problem {
	refuse := func(word, why string) *report.Problem {
		return &report.Problem{Why: "its interpreter line names " + word + ", " + why, Remedy: "leave it out of the line, or run the hook with inPlace"}
	}
	if l.vague {
		return refuse("something", "which only env can read for sure")
	}
	for _, set := range l.sets {
		if in.setsCode(set) {
			return refuse(set, "which may make its interpreter load code of the project")
		}
	}
	kind := kindOf(l.starter())
	for i, word := range l.args {
		if in.leadsInside(word) {
			return refuse(word, "which would be looked for in the project")
		}
		value := ""
		if i+1 < len(l.args) {
			value = l.args[i+1]
		}
		if kind.loadsByName(word, value) {
			return refuse(strings.TrimSpace(word+" "+value), "which runs code by its name, looked for in the project")
		}
	}
	return nil
}

// setsCode reports whether an assignment NAME=VALUE leads into the project. Where
// the variable can make programs load code, every part of its value must be an
// absolute path outside; of others no part may lie in the project.
func (in *place) setsCode(assignment string) bool {
	name, value, _ := strings.Cut(assignment, "=")
	parts := strings.FieldsFunc(value, func(c rune) bool { return strings.ContainsRune(":;, ", c) })
	if hookenv.LoadsCode(name) {
		outside := func(path string) bool { return filepath.IsAbs(path) && !in.leadsInside(path) }
		return len(parts) == 0 && value != "" || !all(parts, func(part string) bool {
			carried := optionValue(part)
			option := strings.HasPrefix(part, "--") && (strings.Trim(carried, "0123456789") == "" || outside(carried))
			return option || outside(part)
		})
	}
	return slices.ContainsFunc(append(parts, value), in.leadsInside)
}

func all(parts []string, holds func(string) bool) bool {
	return !slices.ContainsFunc(parts, func(part string) bool { return !holds(part) })
}

// leadsInside reports whether a word is, or carries, a path that leads into the
// project: one that begins with a dot, one with a slash that is not absolute, one
// that lies there, or the name of a file that is there.
func (in *place) leadsInside(word string) bool {
	for _, path := range []string{word, optionValue(word)} {
		if path == "" || strings.HasPrefix(path, "-") {
			continue
		}
		if !filepath.IsAbs(path) && (strings.ContainsRune(path, '/') || path == "." || path == "..") {
			return true
		}
		at := in.locate(path)
		// A plain word is a path only if there is such a file: run, pipefail.
		if at.name != "" && (filepath.IsAbs(path) || strings.ContainsRune(path, '.') || at.exists && (path != word || at.st.Mode.IsRegular())) {
			return true
		}
	}
	return false
}

// optionValue is what an option may carry: -Ilib, --require=./x.js.
func optionValue(word string) string {
	if _, value, ok := strings.Cut(word, "="); ok {
		return value
	}
	if strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && len(word) > 2 {
		return word[2:]
	}
	return ""
}

// kind is what hookd knows of a program that starts others, by its name.
type kind string

const (
	kindShell    kind = "shell"
	kindPython   kind = "python"
	kindNode     kind = "node"
	kindPerl     kind = "perl"
	kindRuby     kind = "ruby"
	kindOther    kind = "other" // reads a script, and configures itself from the working directory
	kindRunner   kind = "runner"
	kindLauncher kind = "launcher" // starts the program that its arguments name
	kindUnknown  kind = ""
)

// kinds are the programs that hookd knows, without the version after their names.
var kinds = map[string]kind{}

func init() {
	for of, names := range kindNames {
		for _, name := range strings.Fields(names) {
			kinds[name] = of
		}
	}
}

var kindNames = map[kind]string{
	kindShell:  "sh bash dash zsh ksh ash mksh fish csh tcsh rbash busybox pwsh",
	kindPython: "python pypy",
	kindNode:   "node nodejs",
	kindPerl:   "perl",
	kindRuby:   "ruby jruby truffleruby",
	kindOther:  "bun deno php lua luajit r rscript julia tclsh gawk octave expect gnuplot gdb lldb xonsh dart crystal nim guile racket raku swift groovy scala kotlin elixir erl escript java jshell ghci runghc runhaskell ocaml",
	kindRunner: "make gmake bmake npm npx pnpm pnpx yarn yarnpkg corepack bunx uv uvx pipx pip poetry pdm hatch rye tox nox invoke fab " +
		"go cargo just task rake bundle bundler gem composer mvn mvnw gradle gradlew ant sbt lein clj mix rebar stack cabal dune bazel bazelisk buck " +
		"cmake ctest ninja meson scons nix nix-shell nix-build devbox mise asdf direnv pre-commit lefthook husky " +
		"ts-node tsx tsc eslint prettier jest vitest mocha ava nx turbo lerna gulp grunt webpack vite rollup " +
		"pytest pylint mypy ruff black flake dotnet msbuild zig terraform ansible ansible-playbook vagrant packer",
	kindLauncher: "env xargs nice ionice timeout nohup setsid stdbuf time sudo doas su runuser chroot unshare nsenter bwrap firejail flock script parallel watch entr find git ssh docker docker-compose podman kubectl nerdctl strace ltrace gdb eval exec command",
}

var versions = regexp.MustCompile(`[-0-9.]+$`)

// kindOf tells a program by its name: python3.12 and /usr/bin/python3 are one.
func kindOf(program string) kind {
	name := strings.ToLower(filepath.Base(program))
	name = strings.TrimSuffix(name, ".exe")
	if of, known := kinds[name]; known {
		return of
	}
	return kinds[versions.ReplaceAllString(name, "")]
}

// codeOptions are the options by which interpreters take code from the command
// line, or load code by a name. Letters stand for short options, which may be
// joined (-ec).
var codeOptions = map[kind]struct {
	letters string
	long    []string
}{
	kindShell:  {"cs", []string{"--command", "--rcfile", "--init-file", "--init-command"}},
	kindPython: {"mc", nil},
	kindNode:   {"epr", []string{"--eval", "--print", "--require", "--import", "--loader", "--experimental-loader", "--run", "--env-file", "--experimental-config-file"}},
	kindPerl:   {"eEMmId", nil},
	kindRuby:   {"erIC", []string{"--require"}},
	kindOther:  {"erlBREdi", []string{"--run", "--eval", "--execute"}},
}

// takesCode reports whether an option takes code, or names some: also that of a
// folder for compiled code, and a lone - or a shell's -s, which takes what comes on
// stdin for the program. On stdin comes the event.
func (k kind) takesCode(word string) bool {
	options, known := codeOptions[k]
	switch {
	case k == kindPython && strings.Contains(word, "pycache_prefix="):
		return true
	case !known || !strings.HasPrefix(word, "-"):
		return false
	case word == "-":
		return k != kindShell // where it only ends the options
	}
	if strings.HasPrefix(word, "--") {
		name, _, _ := strings.Cut(word, "=")
		return slices.Contains(options.long, name)
	}
	return strings.ContainsAny(word[1:], options.letters)
}

// loadsByName is takesCode for a word of an interpreter line, where an option that
// carries nothing is given the hook itself.
func (k kind) loadsByName(word, next string) bool {
	if !k.takesCode(word) {
		return false
	}
	if strings.HasPrefix(word, "--") {
		return strings.Contains(word, "=") || next != ""
	}
	switch {
	case word == "-", k == kindPython && strings.Contains(word, "pycache_prefix="):
		return true
	case k == kindShell && strings.Contains(word, "s"):
		return true
	case k == kindPerl && strings.Trim(word, "-dtTuUwWnpalcSs0123456789") == "" && strings.Contains(word, "d"):
		return true // the debugger reads .perldb of the working directory
	case len(word) > 2 && filepath.IsAbs(word[2:]):
		return false // a folder outside of the project
	case k == kindRuby && strings.HasPrefix(word, "-W"):
		return false
	case k == kindPerl && strings.HasPrefix(word, "-M"), k == kindPerl && strings.HasPrefix(word, "-m"), k == kindRuby && strings.HasPrefix(word, "-r"):
		return strings.ContainsAny(word, "=./") || len(word) == 2 // modules by name come from the program's own folders
	case k == kindShell:
		return next != "" && strings.HasSuffix(word, "c")
	}
	return next != "" || len(word) > 2
}
