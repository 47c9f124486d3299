package shellwords

import (
	"fmt"
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Resolved is a word of a line with the variables in it filled in, as far as they are
// known.
type Resolved struct {
	Text  string // the value if it is known, else as written
	Known bool

	// Begin and End say where the word stands in the line.
	Begin, End int
}

// ResolvedCommand is a simple command of a line.
type ResolvedCommand struct {
	Words []Resolved // the program first; none where only something is set
	Sets  []Resolved // values of assignments
	Reads []Resolved // files that its redirections read
}

// Resolve reads a line as [Split] does, and fills in variables: value returns the value of
// one that is known. It is asked for plain substitutions too, written "$(pwd)", and may
// know what such a command prints. It is for finding the files that a line names. What a
// command gives to another shell is not read.
func Resolve(line string, value func(name string) (string, bool)) ([]ResolvedCommand, error) {
	if len(line) > maxText {
		return nil, fmt.Errorf("it is longer than %d bytes", maxText)
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return nil, fmt.Errorf("it cannot be read as bash (%w)", err)
	}
	r := resolver{line: line, value: value, sets: map[string]bool{}}
	walk(file, func(node syntax.Node) bool {
		r.setBy(node)
		return true
	})
	walk(file, func(node syntax.Node) bool {
		if stmt, is := node.(*syntax.Stmt); is {
			r.statement(stmt)
		}
		return len(r.found) < maxCommands
	})
	if len(r.found) >= maxCommands {
		return nil, fmt.Errorf("it has more than %d commands", maxCommands)
	}
	return r.found, nil
}

// folderVariable is the shell's own folder. What a substitution prints depends on it.
const folderVariable = "PWD"

type resolver struct {
	line  string
	value func(name string) (string, bool)
	sets  map[string]bool // variables that the line itself sets: their values are not known
	found []ResolvedCommand
}

// setBy notes which variables a node sets.
func (r *resolver) setBy(node syntax.Node) {
	switch n := node.(type) {
	case *syntax.Assign:
		if n.Name != nil {
			r.sets[n.Name.Value] = true
		}
	case *syntax.WordIter:
		r.sets[n.Name.Value] = true
	case *syntax.CallExpr:
		if len(n.Args) > 0 && (n.Args[0].Lit() == "read" || n.Args[0].Lit() == "unset" || n.Args[0].Lit() == "mapfile" || n.Args[0].Lit() == "readarray") {
			for _, arg := range n.Args[1:] {
				r.sets[arg.Lit()] = true
			}
		}
		if len(n.Args) > 0 && (n.Args[0].Lit() == "cd" || n.Args[0].Lit() == "pushd" || n.Args[0].Lit() == "popd") {
			r.sets[folderVariable] = true
		}
	}
}

func (r *resolver) statement(stmt *syntax.Stmt) {
	var c ResolvedCommand
	switch cmd := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		for _, assign := range cmd.Assigns {
			if assign.Value != nil {
				c.Sets = append(c.Sets, r.word(assign.Value))
			}
		}
		for _, word := range cmd.Args {
			c.Words = append(c.Words, r.word(word))
		}
	case *syntax.DeclClause:
		for _, arg := range cmd.Args {
			if arg.Value != nil {
				c.Sets = append(c.Sets, r.word(arg.Value))
			}
		}
	}
	for _, redirect := range stmt.Redirs {
		if redirect.Op == syntax.RdrIn && redirect.Word != nil {
			c.Reads = append(c.Reads, r.word(redirect.Word))
		}
	}
	if len(c.Words)+len(c.Sets)+len(c.Reads) > 0 {
		r.found = append(r.found, c)
	}
}

// word resolves a word. One that the shell would split, or that stands for several, is
// not known.
func (r *resolver) word(word *syntax.Word) Resolved {
	w := Resolved{Begin: int(word.Pos().Offset()), End: int(word.End().Offset())}
	w.Text = r.line[w.Begin:w.End]
	if hasGlob(word) || hasBraces(word) {
		return w
	}
	parts, home := word.Parts, ""
	if hasTilde(word) {
		value, known := r.value("HOME")
		lit := word.Parts[0].(*syntax.Lit)
		if !known || lit.Value != "~" && !strings.HasPrefix(lit.Value, "~/") {
			return w
		}
		home = value
	}
	text, known := r.parts(parts, false)
	if !known {
		return w
	}
	if home != "" {
		text = home + strings.TrimPrefix(text, "~")
	}
	w.Text, w.Known = text, true
	return w
}

func (r *resolver) parts(parts []syntax.WordPart, quoted bool) (string, bool) {
	var b strings.Builder
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit, *syntax.SglQuoted:
			text, literal := unquoted([]syntax.WordPart{p}, quoted)
			if !literal {
				return "", false
			}
			b.WriteString(text)
		case *syntax.DblQuoted:
			inner, known := r.parts(p.Parts, true)
			if !known || p.Dollar {
				return "", false
			}
			b.WriteString(inner)
		case *syntax.ParamExp:
			value, known := r.param(p)
			if !known || !quoted && strings.ContainsAny(value, " \t\n*?[") {
				return "", false
			}
			b.WriteString(value)
		case *syntax.CmdSubst:
			value, known := r.substitution(p)
			if !known || !quoted && strings.ContainsAny(value, " \t\n*?[") {
				return "", false
			}
			b.WriteString(value)
		default:
			return "", false
		}
	}
	return b.String(), true
}

// substitution is what $(command) stands for, where the command is a few literal words.
// That its errors go to /dev/null changes nothing.
func (r *resolver) substitution(p *syntax.CmdSubst) (string, bool) {
	if len(p.Stmts) != 1 || p.TempFile || p.ReplyVar || r.sets[folderVariable] {
		return "", false
	}
	stmt := p.Stmts[0]
	call, is := stmt.Cmd.(*syntax.CallExpr)
	if !is || len(call.Assigns) > 0 || stmt.Negated || stmt.Background || stmt.Coprocess {
		return "", false
	}
	for _, redirect := range stmt.Redirs {
		if redirect.N == nil || redirect.N.Value != "2" || redirect.Op != syntax.RdrOut || redirect.Word.Lit() != "/dev/null" {
			return "", false
		}
	}
	var words []string
	for _, word := range call.Args {
		if word.Lit() == "" || hasGlob(word) {
			return "", false
		}
		words = append(words, word.Lit())
	}
	return r.value("$(" + strings.Join(words, " ") + ")")
}

// param is the value of $NAME, ${NAME} and ${NAME:-other}.
func (r *resolver) param(p *syntax.ParamExp) (string, bool) {
	plain := p.Param != nil && !p.Excl && !p.Length && !p.Width && p.Index == nil && p.Slice == nil && p.Repl == nil && p.Names == 0
	if !plain || r.sets[p.Param.Value] {
		return "", false
	}
	value, known := r.value(p.Param.Value)
	if !known {
		return "", false
	}
	if p.Exp != nil {
		switch p.Exp.Op {
		case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		default:
			return "", false
		}
		if value == "" {
			return "", false
		}
	}
	return value, true
}

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
