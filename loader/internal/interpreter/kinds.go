package interpreter

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/table"
)

// Kind is what hookd knows of a program that starts others, by its name.
type Kind string

const (
	KindShell    Kind = "shell"
	KindPython   Kind = "python"
	KindNode     Kind = "node"
	KindPerl     Kind = "perl"
	KindRuby     Kind = "ruby"
	KindOther    Kind = "other" // reads a script, and configures itself from the working directory
	KindRunner   Kind = "runner"
	KindLauncher Kind = "launcher" // starts the program that its arguments name
	KindUnknown  Kind = ""
)

// kindNames are the programs that hookd knows, without the version after their names.
var kindNames = []struct {
	of    Kind
	names table.Words
}{
	{KindShell, "sh bash dash zsh ksh ash mksh fish csh tcsh rbash busybox pwsh"},
	{KindPython, "python pypy"},
	{KindNode, "node nodejs"},
	{KindPerl, "perl"},
	{KindRuby, "ruby jruby truffleruby"},
	{KindOther, "bun deno php lua luajit r rscript julia tclsh gawk octave expect gnuplot lldb xonsh dart crystal nim guile racket raku swift groovy scala kotlin elixir erl escript java jshell ghci runghc runhaskell ocaml"},
	{KindRunner, "make gmake bmake npm npx pnpm pnpx yarn yarnpkg corepack bunx uv uvx pipx pip poetry pdm hatch rye tox nox invoke fab " +
		"go cargo just task rake bundle bundler gem composer mvn mvnw gradle gradlew ant sbt lein clj mix rebar stack cabal dune bazel bazelisk buck " +
		"cmake ctest ninja meson scons nix nix-shell nix-build devbox mise asdf direnv pre-commit lefthook husky " +
		"ts-node tsx tsc eslint prettier jest vitest mocha ava nx turbo lerna gulp grunt webpack vite rollup " +
		"pytest pylint mypy ruff black flake dotnet msbuild zig terraform ansible ansible-playbook vagrant packer"},
	{KindLauncher, "env xargs nice ionice timeout nohup setsid stdbuf time sudo doas su runuser chroot unshare nsenter bwrap firejail flock script parallel watch entr find git ssh docker docker-compose podman kubectl nerdctl strace ltrace gdb eval exec command"},
}

// KindOf returns the kind of a program, by its name: python3.12 and /usr/bin/python3 are one.
func KindOf(program string) Kind {
	name := strings.ToLower(filepath.Base(program))
	name = strings.TrimSuffix(name, ".exe")
	if of := kindOfName(name); of != KindUnknown {
		return of
	}
	return kindOfName(strings.TrimRight(name, "-.0123456789"))
}

func kindOfName(name string) Kind {
	for _, list := range kindNames {
		if list.names.Has(name) {
			return list.of
		}
	}
	return KindUnknown
}

// codeOptions are the options by which interpreters take code from the command
// line, or load code by a name. Letters are short options, which may be
// joined (-ec).
var codeOptions = map[Kind]struct {
	letters string
	long    []string
}{
	KindShell:  {"cs", []string{"--command", "--rcfile", "--init-file", "--init-command"}},
	KindPython: {"mc", nil},
	KindNode:   {"epr", []string{"--eval", "--print", "--require", "--import", "--loader", "--experimental-loader", "--run", "--env-file", "--experimental-config-file"}},
	KindPerl:   {"eEMmId", nil},
	KindRuby:   {"erIC", []string{"--require"}},
	KindOther:  {"erlBREdi", []string{"--run", "--eval", "--execute"}},
}

// sealing are the options with which a program that configures itself from the working
// directory takes nothing from there. All of them are needed.
var sealing = map[string][]string{
	"bun":  {"--config=/dev/null", "--env-file=/dev/null"}, // else bunfig.toml can preload code, and .env sets variables
	"deno": {"--no-config"},
}

// Sealed reports whether the words of a command line start a program that reads neither
// settings nor modules from the working directory, since they say so before the script.
func Sealed(words []string) bool {
	options, known := sealing[strings.ToLower(filepath.Base(words[0]))]
	if !known {
		return false
	}
	words = words[1:]
	if len(words) > 0 && words[0] == "run" {
		words = words[1:]
	}
	if script := slices.IndexFunc(words, func(word string) bool { return !strings.HasPrefix(word, "-") || word == "--" }); script >= 0 {
		words = words[:script]
	}
	return !slices.ContainsFunc(options, func(option string) bool { return !slices.Contains(words, option) })
}

// KnowsCodeOptions reports whether hookd knows by which options a program of the
// kind takes code.
func (k Kind) KnowsCodeOptions() bool { return codeOptions[k].letters != "" }

// TakesCode reports whether an option takes code, or names some: also that of a
// folder for compiled code, and a lone - or a shell's -s, which takes what comes on
// stdin for the program. On stdin comes the event.
func (k Kind) TakesCode(word string) bool {
	options, known := codeOptions[k]
	switch {
	case k == KindPython && strings.Contains(word, "pycache_prefix="):
		return true
	case !known || !strings.HasPrefix(word, "-"):
		return false
	case word == "-":
		return k != KindShell // where it only ends the options
	}
	if strings.HasPrefix(word, "--") {
		name, _, _ := strings.Cut(word, "=")
		return slices.Contains(options.long, name)
	}
	return strings.ContainsAny(word[1:], options.letters)
}

// loadsByName is takesCode for a word of an interpreter line, where an option that
// carries nothing is given the hook itself.
func (k Kind) loadsByName(word, next string) bool {
	if !k.TakesCode(word) {
		return false
	}
	if strings.HasPrefix(word, "--") {
		return strings.Contains(word, "=") || next != ""
	}
	switch {
	case word == "-", k == KindPython && strings.Contains(word, "pycache_prefix="):
		return true
	case k == KindShell && strings.Contains(word, "s"):
		return true
	case k == KindPerl && strings.Trim(word, "-dtTuUwWnpalcSs0123456789") == "" && strings.Contains(word, "d"):
		return true // the debugger reads .perldb of the working directory
	case len(word) > 2 && filepath.IsAbs(word[2:]):
		return false // a folder outside of the project
	case k == KindRuby && strings.HasPrefix(word, "-W"):
		return false
	case k == KindPerl && strings.HasPrefix(word, "-M"), k == KindPerl && strings.HasPrefix(word, "-m"), k == KindRuby && strings.HasPrefix(word, "-r"):
		return strings.ContainsAny(word, "=./") || len(word) == 2 // modules by name come from the program's own folders
	case k == KindShell:
		return next != "" && strings.HasSuffix(word, "c")
	}
	return next != "" || len(word) > 2
}
