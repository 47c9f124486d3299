package newcmd

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
)

// A language is one way of writing a hook. Its template is template/NAME.tmpl.
type language struct {
	name     string
	also     []string // other names for it
	endings  []string // of a hook's name; a hook without one of these is in the first language
	needs    string   // the program that has to be on PATH where the hook runs, or is built
	compiled bool     // its source lies in a folder of its own, and its rules in a side file
}

// languages is the table: a new language is a row and a file.
var languages = []language{
	{name: "sh", endings: []string{".sh"}, needs: "sh"},
	{name: "bash", endings: []string{".bash"}, needs: "bash"},
	{name: "python", also: []string{"python3", "py"}, endings: []string{".py"}, needs: "python3"},
	{name: "node", also: []string{"js", "javascript"}, endings: []string{".js", ".cjs", ".mjs"}, needs: "node"},
	{name: "bun", also: []string{"ts", "typescript"}, endings: []string{".ts"}, needs: "bun"},
	{name: "deno", also: []string{"ts", "typescript"}, endings: []string{".ts"}, needs: "deno"},
	{name: "ruby", also: []string{"rb"}, endings: []string{".rb"}, needs: "ruby"},
	{name: "go", also: []string{"golang"}, endings: []string{".go"}, needs: "go", compiled: true},
}

// here reports whether the language's program is on this machine.
func (l *language) here() bool {
	_, err := exec.LookPath(l.needs)
	return err == nil
}

// writes reports whether a hook's name says that it is in the language.
func (l *language) writes(name string) bool {
	return slices.ContainsFunc(l.endings, func(ending string) bool { return strings.HasSuffix(name, ending) })
}

func languageNames() (names []string) {
	for i := range languages {
		names = append(names, languages[i].name)
	}
	return names
}

// pickLanguage returns the language that a person named. Without a name it is one by the
// ending of the hook's name: of several, the first whose program is here.
func pickLanguage(name, lang string) (*language, error) {
	var fits []*language
	for i := range languages {
		l := &languages[i]
		if lang == "" && l.writes(name) || lang == l.name || slices.Contains(l.also, lang) {
			fits = append(fits, l)
		}
	}
	if i := slices.IndexFunc(fits, (*language).here); i >= 0 {
		return fits[i], nil
	}
	switch {
	case len(fits) > 0:
		return fits[0], nil
	case lang == "":
		return &languages[0], nil
	}
	return nil, cli.Usage("usage", fmt.Sprintf("no template for language %q", lang), nearest(lang, languageNames()))
}
