package discover

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/candidate"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/imports"
	"github.com/hookd-dev/hookd/loader/internal/interpreter"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/protocol/dialect/foreignhooks"
	"github.com/hookd-dev/hookd/schema"
)

// takeCommand has a hook run the command that a description names: a program with
// arguments, or of a hook of another agent a line for the shell.
func (g *layerScan) takeCommand(f *candidate.Hook, d *schema.Described) {
	words := d.Command
	if d.Dialect != nil && foreignhooks.Find(*d.Dialect) != nil {
		value := func(name string) (string, bool) { return imports.Value(*d.Dialect, name, g.startFolder(), g.Env.Home) }
		if shell := foreignhooks.ShellLine(""); len(words) == len(shell) && slices.Equal(words[:2], shell[:2]) {
			g.takeLine(f, words, &bundle.ShellLine{Text: words[2], Value: value})
			return
		}
		words = withFolder(words, value)
		f.Argv, f.Problem = g.command(words)
		f.NameWords(words)
		if f.Problem == nil && mustNotName(g) {
			f.Problem = wordInProject(g, words[1:])
		}
		return
	}
	f.Argv, f.Problem = g.command(words)
	f.NameWords(words)
	if f.Problem == nil && mustNotName(g) {
		f.Problem = startsProject(g, words)
	}
}

// mustNotName reports whether what hooks of the scope start must not lie in the project:
// nobody allowed that, and the scope is not the project's.
func mustNotName(g *layerScan) bool { return g.scope.Project == "" && !g.Env.ProjectAllowed() }

// wordInProject is the problem of a command with a word that speaks of the project's folder.
func wordInProject(g *layerScan, words []string) *report.Problem {
	if i := slices.IndexFunc(words, func(word string) bool { return bundle.SpeaksOfProject(word, g.startFolder()) }); i >= 0 {
		return liesInProject(g, words[i])
	}
	return nil
}

// startsProject is the problem of a command that has a shell start a program of the
// project: sh -c '"$HOOK_PROJECT_DIR"/guard.sh'.
func startsProject(g *layerScan, words []string) *report.Problem {
	if len(words) < 3 || interpreter.KindOf(words[0]) != interpreter.KindShell {
		return nil
	}
	value := func(name string) (string, bool) { return imports.Value("", name, g.startFolder(), g.Env.Home) }
	inside := func(path string) bool { return g.Env.LiesInside(g.scope.Layer, path) }
	for _, word := range words[1:] {
		line := bundle.ShellLine{Text: word, Value: value}
		if what, is := line.StartsProject(g.startFolder(), inside); is {
			return liesInProject(g, what)
		}
	}
	return nil
}

func liesInProject(g *layerScan, what string) *report.Problem {
	return &report.Problem{Why: fmt.Sprintf("%s lies in the project, which the %s settings cannot vouch for", what, g.scope.Layer), Remedy: "name a file outside of the project, or allow the project"}
}

// startFolder is the project that a hook of the scope is told of.
func (g *layerScan) startFolder() string {
	if g.scope.Project != "" {
		return g.scope.Root
	}
	return g.Env.Workspace.Root
}

// withFolder fills in the project's folder where the words of a command name it by a
// variable of their agent: ${CLAUDE_PROJECT_DIR}.
func withFolder(words []string, value func(string) (string, bool)) []string {
	filled := make([]string, len(words))
	for i, word := range words {
		filled[i] = word
		for _, open := range []string{"${", "$"} {
			before, rest, is := strings.Cut(filled[i], open)
			if !is {
				continue
			}
			end := strings.IndexFunc(rest, func(c rune) bool { return c != '_' && (c < 'A' || c > 'Z') })
			if end < 0 {
				end = len(rest)
			}
			folder, known := value(rest[:end])
			after := rest[end:]
			if open == "${" {
				var closed bool
				if after, closed = strings.CutPrefix(after, "}"); !closed {
					continue
				}
			}
			if known {
				filled[i] = before + folder + after
			}
		}
	}
	return filled
}

// takeLine has a hook run a line that the shell reads.
func (g *layerScan) takeLine(f *candidate.Hook, words []string, line *bundle.ShellLine) {
	_, f.Problem = g.command(words[:1])
	f.Argv, f.Shell = append([]string{}, words...), line
	f.NameWords(words)
	if f.Problem != nil || !mustNotName(g) {
		return
	}
	inside := func(path string) bool { return g.Env.LiesInside(g.scope.Layer, path) }
	if word, is := line.NamesProject(g.startFolder(), inside); is {
		f.Problem = liesInProject(g, word)
	}
}

// command resolves the program of a command entry: absolute, ./ from the folder
// of its layer (the project's root, or where the settings lie), or found on PATH.
func (g *layerScan) command(words []string) ([]string, *report.Problem) {
	if len(words) == 0 {
		return []string{}, &report.Problem{Why: "its command cannot be read", Remedy: "correct its settings entry"}
	}
	argv := g.scope.FromSettings(words)
	switch {
	case filepath.IsAbs(argv[0]):
	case filepath.Base(argv[0]) != argv[0]:
		argv[0] = filepath.Join(g.scope.RelativeTo(), argv[0])
	default:
		found := g.Env.Builder(g.scope, false).ProgramOf(argv[0])
		if found.Bad == nil {
			argv[0] = found.Pin.Path
		}
		if found.Bad != nil || g.scope.NeedsTrust() {
			return argv, found.Bad
		}
	}
	_, unsafe, err := g.Checks.Follow(argv[0])
	if err != nil {
		return argv, &report.Problem{Why: fmt.Sprintf("the program %s was not found", argv[0]), Remedy: "install it, or correct the settings entry"}
	}
	st, err := files.Stat(argv[0])
	switch {
	case err != nil || !st.Mode.IsRegular():
		return argv, &report.Problem{Why: fmt.Sprintf("%s is no program", argv[0]), Remedy: "correct the settings entry"}
	case unsafe != "":
		return argv, &report.Problem{Why: unsafe, Remedy: "make it yours and writable by you only: chown, chmod go-w"}
	}
	if g.Env.LiesInside(g.scope.Layer, argv[0]) {
		return argv, &report.Problem{Why: fmt.Sprintf("%s lies in the project, which the %s settings cannot vouch for", argv[0], g.scope.Layer), Remedy: "name it in the project's settings and allow it there"}
	}
	for _, word := range argv[1:] {
		if _, path := interpreter.OptionPath(word); filepath.IsAbs(path) && !g.Env.ProjectAllowed() && g.Env.LiesInside(g.scope.Layer, path) && files.IsRegular(path) {
			return argv, liesInProject(g, path)
		}
	}
	return argv, checkMode(argv[0], st)
}
