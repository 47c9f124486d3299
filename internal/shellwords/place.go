package shellwords

import (
	"path"
	"strings"
)

// place is where a shell may be: its folder, the one before it, and its stack.
type place struct {
	now, before string
	stack       string // with a NUL after each
}

// somewhere is a folder that does not show; that of the caller is "".
const somewhere = "?"

// cd is where the shell is after cd.
func (p place) cd(args []Word) place {
	folder := "~"
	switch {
	case len(args) > 0 && args[0].Text == "-" && args[0].Literal:
		folder = p.before
	case len(args) > 0:
		folder = p.seen(args[0])
	}
	return place{now: folder, before: p.now, stack: p.stack}
}

func (p place) pushd(args []Word) (all []place) {
	if len(args) == 0 || strings.HasPrefix(args[0].Text, "+") {
		return p.popd(true)
	}
	return []place{{now: p.seen(args[0]), before: p.now, stack: p.now + "\x00" + p.stack}}
}

// popd is where the shell is after it takes a folder from its stack: the last one, or any.
func (p place) popd(anyOf bool) (all []place) {
	rest := p.stack
	for rest != "" {
		var folder string
		folder, rest, _ = strings.Cut(rest, "\x00")
		if !anyOf {
			return []place{{now: folder, before: p.now, stack: rest}}
		}
		all = append(all, place{now: folder, before: p.now, stack: p.now + "\x00" + p.stack})
	}
	return all
}

// seen returns the folder that a word names.
func (p place) seen(word Word) string {
	text := word.Text
	if !word.Literal {
		if text = p.plain(text); strings.ContainsAny(text, "$`*?[{\\") {
			return somewhere
		}
	} else if strings.HasPrefix(text, "~") { // '~' is a name
		text = "./" + text
	}
	return joined(p.now, text)
}

// plain returns a word without its quotes and with the folders in it that the shell knows.
func (p place) plain(text string) string {
	if !strings.ContainsAny(text, `$"`) {
		return text
	}
	text = strings.NewReplacer(`"`, "", "${PWD}", "$PWD", "${OLDPWD}", "$OLDPWD", "${HOME}", "$HOME", "$(pwd)", "$PWD", "`pwd`", "$PWD").Replace(text)
	for name, value := range map[string]string{"$PWD": p.now, "$OLDPWD": p.before, "$HOME": "~"} {
		rest, is := strings.CutPrefix(text, name)
		switch {
		case !is || rest != "" && rest[0] != '/':
		case value == somewhere:
			return "$" // it does not show
		case value == "":
			return "." + rest
		default:
			return value + rest
		}
	}
	return text
}

// joined returns a path as seen from where the path of its folder begins.
func joined(folder, name string) string {
	const home = "/home/~"
	switch {
	case strings.HasPrefix(name, "/"):
		return path.Clean(name)
	case name == "~" || strings.HasPrefix(name, "~/"):
		name = path.Join(home, name[1:])
	case strings.HasPrefix(name, "~"):
		return name
	case folder == somewhere:
		return somewhere
	case folder == "~" || strings.HasPrefix(folder, "~/"):
		name = path.Join(home, folder[1:], name)
	case strings.HasPrefix(folder, "~"):
		return folder + "/" + name
	default:
		name = path.Join(folder, name)
	}
	if rest, is := strings.CutPrefix(name, home); is && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	if name == "." {
		return ""
	}
	return name
}
