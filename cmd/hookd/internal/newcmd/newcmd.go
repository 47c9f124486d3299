package newcmd

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/takehook"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/schema/testfile"
)

//go:embed template
var templates embed.FS

// A language is one way of writing a hook.
type language struct {
	name, ending, template string
}

var languages = []language{
	{"sh", ".sh", "hook.sh"},
	{"python", ".py", "hook.py"},
	{"node", ".js", "hook.js"},
	{"go", ".go", "hook.go.txt"},
}

// Commands are hookd new.
type Commands struct {
	Console *cli.Console
	Project *places.Project
}

// New returns hookd new.
func (cmd *Commands) New() *cobra.Command {
	var lang string
	taking := takehook.Taker{Console: cmd.Console, Project: cmd.Project}
	c := &cobra.Command{
		Use:   "new NAME [--lang sh|python|node|go]",
		Short: "Write a hook from a template, or take one that is ready",
		Long: `Write a hook from a template that states its rules in a comment header.

A Go hook is compiled: its source goes to .acai/hooks-src/NAME, its rules to a
side file in .acai/hooks, and the line that builds it is printed.

` + takehook.Help,
	}
	write := func(_ *cobra.Command, args []string) error { return cmd.newHook(args[0], lang) }
	taking.AddTo(c, cobra.ExactArgs(1), write)
	cli.NameFlag(c.Flags(), &lang, "lang", "", "language `L` of the hook: sh, python, node or go (default: by the ending of NAME, else sh)")
	_ = c.RegisterFlagCompletionFunc("lang", cobra.FixedCompletions([]string{"sh", "python", "node", "go"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (cmd *Commands) newHook(name, lang string) error {
	if name != filepath.Base(name) || strings.HasPrefix(name, ".") || strings.ContainsAny(name, `/\`) || show.Line(name) != name {
		return cli.Usage("usage", "a hook's name is a plain file name, not "+name, "hookd new guard.sh --lang sh")
	}
	l, err := pickLanguage(name, lang)
	if err != nil {
		return err
	}
	root, err := cmd.Project.WriteFolder()
	if err != nil {
		return err
	}
	hooks := filepath.Join(root, ".acai", "hooks")
	if err := os.MkdirAll(hooks, 0o755); err != nil {
		return cli.Failed("new", err, "")
	}
	base := strings.TrimSuffix(name, ".go")
	// By file and not by package, so that it works inside and outside a module.
	build := "go build -o .acai/hooks/" + base + " .acai/hooks-src/" + base + "/main.go"
	page := hookPage{name, base, build}
	if l.name == "go" {
		return cmd.newGoHook(root, hooks, base, build, page)
	}
	page.Base = name
	path := filepath.Join(hooks, name)
	text, err := cmd.render(path, l.template, 0o755, page)
	if err != nil {
		return err
	}
	cmd.Console.Out.Print("try it on a sample event:   hookd try %s\n", name)
	if err := cmd.writeTests(path, page); err != nil {
		return err
	}
	if err := cmd.Project.InForce(); err != nil {
		return err
	}
	if cmd.recordWritten(root, name, text) {
		cmd.Console.Out.Print("it runs as it is; after you edited it: hookd trust\n")
	} else {
		cmd.Console.Out.Print("let it run in this project: hookd trust\n")
	}
	return nil
}

// recordWritten records the hook that hookd has just written for a person as allowed. It
// reports false if that cannot be done: below an agent, in the home folder, or if settings
// that nobody allowed may concern the hook.
func (cmd *Commands) recordWritten(root, name, text string) bool {
	trust, err := loader.OpenTrust(loader.Options{Project: root})
	if err != nil {
		return false
	}
	trust.How = "new"
	return trust.AllowWritten(context.Background(), name, text) == nil
}

func (cmd *Commands) newGoHook(root, hooks, base, build string, page hookPage) error {
	folder := filepath.Join(root, ".acai", "hooks-src", base)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return cli.Failed("new", err, "")
	}
	if _, err := cmd.render(filepath.Join(folder, "main.go"), "hook.go.txt", 0o644, page); err != nil {
		return err
	}
	if _, err := cmd.render(filepath.Join(hooks, base+".hook.yaml"), "hook.yaml", 0o644, page); err != nil {
		return err
	}
	cmd.Console.Out.Raw("build it:                   " + build + "\n")
	cmd.Console.Out.Print("try it on a sample event:   hookd try %s\n", base)
	if err := cmd.writeTests(filepath.Join(hooks, base), page); err != nil {
		return err
	}
	cmd.Console.Out.Print("let it run in this project: hookd trust\n")
	return cmd.Project.InForce()
}

// hookPage is what the templates name.
type hookPage struct{ Name, Base, Build string }

// writeTests writes the tests of a new hook beside it. Tests that are there already stay.
func (cmd *Commands) writeTests(hook string, page hookPage) error {
	text, err := fill("tests.yaml", page)
	if err != nil {
		return err
	}
	if err := places.CreateFile(hook+testfile.Suffixes[0], text, 0o644); err != nil && !errors.Is(err, fs.ErrExist) {
		return cli.Failed("new", err, "")
	}
	cmd.Console.Out.Print("run the tests beside it:    hookd test %s\n", page.Base)
	return nil
}

// fill returns the text of a template.
func fill(name string, page any) (string, error) {
	text, err := templates.ReadFile("template/" + name)
	if err != nil {
		return "", err
	}
	t, err := template.New(name).Parse(string(text))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, page)
	return b.String(), err
}

// render writes a file from a template and returns its text.
func (cmd *Commands) render(path, name string, mode fs.FileMode, page any) (string, error) {
	text, err := fill(name, page)
	if err != nil {
		return "", err
	}
	if err := places.CreateFile(path, text, mode); errors.Is(err, fs.ErrExist) {
		return "", cli.Usage("exists", path+" is there already", "take another name, or edit it")
	} else if err != nil {
		return "", cli.Failed("new", err, "")
	}
	cmd.Console.Out.Print("wrote %s\n", cmd.Console.Out.In(show.Name, show.Line(path)))
	return text, nil
}

func pickLanguage(name, lang string) (language, error) {
	if lang == "" {
		i := slices.IndexFunc(languages, func(l language) bool { return strings.HasSuffix(name, l.ending) })
		return languages[max(i, 0)], nil
	}
	i := slices.IndexFunc(languages, func(l language) bool { return l.name == lang })
	if i < 0 {
		return language{}, cli.Usage("usage", "no template for language "+lang, "one of sh, python, node, go")
	}
	return languages[i], nil
}
