package takehook

import (
	"strings"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/examples"
	"github.com/hookd-dev/hookd/internal/text"
)

// listed is a hook to take as programs read it.
type listed struct {
	Name    string   `json:"name"`
	Group   string   `json:"group"`
	Kind    string   `json:"kind"` // rules or program
	Why     string   `json:"why"`
	File    string   `json:"file"`
	Tests   string   `json:"tests"`
	Events  []string `json:"events"`
	Needs   []string `json:"needs"`
	Options []option `json:"options"`
}

type option struct {
	Name    string `json:"name"`
	Meaning string `json:"meaning"`
}

func listedOf(h *examples.Hook) listed {
	l := listed{Name: h.Name, Group: h.Group, Kind: kind(h), Why: h.Why, File: h.File, Tests: h.TestFile, Events: h.Events, Needs: append([]string{}, h.Needs...), Options: []option{}}
	for _, o := range h.Options {
		l.Options = append(l.Options, option(o))
	}
	return l
}

func kind(h *examples.Hook) string {
	if h.Rules {
		return "rules"
	}
	return "program"
}

// List shows all hooks to take, or those of the names with all that is known of them.
func (cmd *Taker) List(names []string) error {
	hooks := examples.Hooks()
	if len(names) > 0 {
		var err error
		if hooks, err = find(names); err != nil {
			return err
		}
	}
	if cmd.Console.JSON {
		all := []listed{}
		for i := range hooks {
			all = append(all, listedOf(&hooks[i]))
		}
		return cmd.Console.PrintJSON(all)
	}
	if len(names) > 0 {
		for i := range hooks {
			cmd.describe(&hooks[i])
		}
		return nil
	}
	p, group, width := cmd.Console.Out, "", 0
	for i := range hooks {
		width = max(width, show.Width(hooks[i].Name))
	}
	for i := range hooks {
		h := &hooks[i]
		if h.Group != group {
			group = h.Group
			p.Print("%s\n", p.In(show.Strong, group))
		}
		cmd.line(h, width)
	}
	p.Print("%s\n", p.In(show.Quiet, "rules start no program; the others need what hookd new --list NAME says"))
	p.Print("take some: %s\n", p.In(show.Name, "hookd new --from dangerous-commands protected-paths"))
	return nil
}

// line prints a hook of the list; a long why goes on below itself.
func (cmd *Taker) line(h *examples.Hook, width int) {
	p := cmd.Console.Out
	what := "       "
	if h.Rules {
		what = "rules  "
	}
	prefix := "  " + h.Name + strings.Repeat(" ", width-show.Width(h.Name)+2) + what
	for i, part := range wrapped(h.Why, p.Width-show.Width(prefix)) {
		if i > 0 {
			p.Print("%s%s\n", strings.Repeat(" ", show.Width(prefix)), part)
			continue
		}
		p.Print("%s%s%s\n", p.In(show.Name, prefix[:2+len(h.Name)]), p.In(show.Quiet, prefix[2+len(h.Name):]), part)
	}
}

// wrapped returns a text in lines of at most so many columns; one line where a terminal is
// too narrow, or there is none.
func wrapped(text string, width int) []string {
	if width < 20 {
		return []string{text}
	}
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && show.Width(line)+1+show.Width(word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return append(lines, line)
}

// describe prints all that is known of one hook.
func (cmd *Taker) describe(h *examples.Hook) {
	p := cmd.Console.Out
	p.Print("%s  %s\n", p.In(show.Name, h.Name), h.Why)
	row := func(what, value string) { p.Print("  %-8s %s\n", what, value) }
	kinds := map[bool]string{true: "rules, which start no program", false: "a program"}
	row("is", kinds[h.Rules])
	row("asked at", strings.Join(h.Events, ", "))
	row("files", h.File+", "+h.TestFile)
	if len(h.Needs) > 0 {
		row("needs", strings.Join(h.Needs, ", ")+missing(h.Needs))
	}
	for _, o := range h.Options {
		row("option", o.Name+": "+o.Meaning)
	}
	row("take it", "hookd new --from "+h.Name)
}

// find returns the hooks of the names, each once.
func find(names []string) (hooks []examples.Hook, err error) {
	var known []string
	for _, h := range examples.Hooks() {
		known = append(known, h.Name)
	}
	taken := map[string]bool{}
	for _, name := range names {
		h, is := examples.Find(name)
		if !is {
			remedy := "hookd new --list shows them all"
			if near := nearest(name, known); len(near) > 0 {
				remedy = "did you mean " + strings.Join(near, ", or ") + "? " + remedy
			}
			return nil, cli.Usage("no-hook", "there is no hook "+show.Line(name)+" to take", remedy)
		}
		if !taken[h.Name] {
			taken[h.Name] = true
			hooks = append(hooks, h)
		}
	}
	return hooks, nil
}

// nearest returns the known names that were probably meant: one with a few other letters,
// or those that hold the name, or a word of it.
func nearest(name string, known []string) (near []string) {
	if one := text.Nearest(name, known); one != "" {
		return []string{one}
	}
	apart := func(r rune) bool { return strings.ContainsRune("-_. ", r) }
	for _, k := range known {
		parts := strings.FieldsFunc(k, apart)
		for word := range strings.FieldsFuncSeq(strings.ToLower(name), apart) {
			if len(word) > 2 && (strings.Contains(k, word) || text.Nearest(word, parts) != "") {
				near = append(near, k)
				break
			}
		}
	}
	return near[:min(len(near), 3)]
}
