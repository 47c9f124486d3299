package shellwords

import (
	"errors"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// folders works out in which folders the statements of a text may run. Where a part of
// the text may or may not run, or a change of the folder may fail, both folders count. Of
// one that does not show (cd $X) nothing is said.
type folders struct {
	*reader
	at    map[*syntax.Stmt][]place
	calls map[string]*syntax.Stmt // the bodies of functions
	depth int
	steps int
}

// Bounds of what is followed; a line beyond them counts as not readable.
const (
	maxPlaces = 32
	maxSteps  = 20000
)

var errTooManyFolders = errors.New("it changes its folder in too many ways")

// changers are the commands of a shell that may change its folder.
var changers = []string{"cd", "chdir", "pushd", "popd", "eval", "command", "builtin"}

// follow finds the folders of the statements of a text, nil if all run where it begins.
func (r *reader) follow(file *syntax.File) map[*syntax.Stmt][]place {
	changes := false
	walk(file, func(node syntax.Node) bool {
		if call, is := node.(*syntax.CallExpr); is && len(call.Args) > 0 {
			text, literal := unquoted(call.Args[0].Parts, false)
			changes = changes || !literal || slices.Contains(changers, text)
		}
		return !changes
	})
	if !changes {
		return nil
	}
	f := folders{reader: r, at: map[*syntax.Stmt][]place{}, calls: map[string]*syntax.Stmt{}}
	var in []place
	for _, folder := range r.found.here {
		in = append(in, place{now: folder, before: somewhere})
	}
	f.list(file.Stmts, in)
	return f.at
}

// list follows statements that run one after the other.
func (f *folders) list(statements []*syntax.Stmt, in []place) (succeeded, ended []place) {
	succeeded = in
	for _, stmt := range statements {
		succeeded, in = f.statement(stmt, in)
	}
	return succeeded, in
}

// statement follows a statement: where the shell is if it succeeds, and where it is at all.
func (f *folders) statement(stmt *syntax.Stmt, in []place) (succeeded, ended []place) {
	if f.steps++; f.steps > maxSteps || len(in) > maxPlaces {
		f.found.fail(errTooManyFolders)
	}
	if f.found.err != nil {
		return in, in
	}
	f.at[stmt] = union(f.at[stmt], in)
	for _, redirect := range stmt.Redirs {
		f.nested(redirect, in)
	}
	succeeded, ended = f.command(stmt.Cmd, in)
	switch {
	case stmt.Background || stmt.Coprocess:
		return in, in
	case stmt.Negated:
		return ended, ended
	}
	return succeeded, ended
}

func (f *folders) command(cmd syntax.Command, in []place) (succeeded, ended []place) {
	switch n := cmd.(type) {
	case *syntax.CallExpr:
		f.nested(n, in)
		return f.call(n, in)
	case *syntax.Block:
		return f.list(n.Stmts, in)
	case *syntax.Subshell:
		f.list(n.Stmts, in)
	case *syntax.BinaryCmd:
		return f.binary(n, in)
	case *syntax.IfClause:
		ended = f.choice(n, in)
		return ended, ended
	case *syntax.WhileClause:
		for range 2 { // the second time from where the first ended
			_, ended = f.list(n.Cond, in)
			_, again := f.list(n.Do, ended)
			in = union(union(in, ended), again)
		}
	case *syntax.ForClause:
		f.nested(n.Loop, in)
		for range 2 {
			_, ended = f.list(n.Do, in)
			in = union(in, ended)
		}
	case *syntax.CaseClause:
		f.nested(n.Word, in)
		all := in
		for _, item := range n.Items {
			_, ended = f.list(item.Stmts, in)
			all = union(all, ended)
		}
		return all, all
	case *syntax.FuncDecl:
		f.calls[n.Name.Value] = n.Body
		f.statement(n.Body, in)
	case *syntax.TimeClause:
		if n.Stmt != nil {
			return f.statement(n.Stmt, in)
		}
	case *syntax.CoprocClause:
		f.statement(n.Stmt, in)
	case nil:
	default:
		f.nested(n, in)
	}
	return in, in
}

// binary follows two statements with && or || or a pipe between them.
func (f *folders) binary(n *syntax.BinaryCmd, in []place) (succeeded, ended []place) {
	first, firstEnded := f.statement(n.X, in)
	switch n.Op {
	case syntax.AndStmt:
		second, secondEnded := f.statement(n.Y, first)
		return second, union(firstEnded, secondEnded)
	case syntax.OrStmt:
		second, secondEnded := f.statement(n.Y, firstEnded)
		return union(first, second), union(first, secondEnded)
	}
	_, last := f.statement(n.Y, in) // some shells run it themselves
	last = union(in, last)
	return last, last
}

func (f *folders) choice(n *syntax.IfClause, in []place) []place {
	holds, ended := f.list(n.Cond, in)
	_, all := f.list(n.Then, holds)
	if n.Else == nil {
		return union(all, ended)
	}
	return union(all, f.choice(n.Else, ended))
}

// nested follows the statements in the words of a node, which have a shell of their own.
func (f *folders) nested(node syntax.Node, in []place) {
	if node == nil {
		return
	}
	walk(node, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.CmdSubst:
			f.list(n.Stmts, in)
			return false
		case *syntax.ProcSubst:
			f.list(n.Stmts, in)
			return false
		}
		return true
	})
}

// call follows a simple command.
func (f *folders) call(n *syntax.CallExpr, in []place) (succeeded, ended []place) {
	if len(n.Args) == 0 {
		return in, in
	}
	name, literal := unquoted(n.Args[0].Parts, false)
	if body := f.calls[name]; literal && body != nil && f.depth < maxDepth {
		f.depth++
		defer func() { f.depth-- }()
		return f.statement(body, in)
	}
	if literal && (name == "exit" || name == "exec" && len(n.Args) > 1) && !f.found.renames {
		return nil, nil
	}
	if literal && !slices.Contains(changers, name) {
		return in, in
	}
	for _, words := range (filler{f.reader}).forms(n.Args) {
		s, e := f.change(words, in)
		succeeded, ended = union(succeeded, s), union(ended, e)
	}
	return succeeded, ended
}

// change follows a command that may change the folder.
func (f *folders) change(words []Word, in []place) (succeeded, ended []place) {
	for len(words) > 1 && (words[0].Text == "command" || words[0].Text == "builtin") {
		words = words[1:]
	}
	if len(words) == 0 {
		return in, in
	}
	if words[0].Text == "eval" && !slices.ContainsFunc(words, isNotLiteral) && f.depth < maxDepth {
		text := strings.Join(texts(words[1:]), " ")
		file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
		if err != nil {
			return in, in
		}
		f.depth++
		defer func() { f.depth-- }()
		return f.list(file.Stmts, in)
	}
	args := words[1:]
	for len(args) > 0 && len(args[0].Text) > 1 && args[0].Text[0] == '-' && args[0].Literal {
		args = args[1:]
	}
	for _, p := range in {
		switch words[0].Text {
		case "cd", "chdir":
			succeeded = union(succeeded, []place{p.cd(args)})
		case "pushd":
			succeeded = union(succeeded, p.pushd(args))
		case "popd":
			succeeded = union(succeeded, p.popd(len(args) > 0))
		default:
			return in, in
		}
	}
	return succeeded, union(succeeded, in)
}

// union returns what is in one of two lists.
func union[T comparable](a, b []T) []T {
	all := slices.Clone(a)
	for _, one := range b {
		if !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return all
}

// fromEach returns folders as seen from others.
func fromEach(others, folders []string) (all []string) {
	if len(folders) == 1 && folders[0] == "" {
		return others
	}
	for _, from := range others {
		for _, folder := range folders {
			all = union(all, []string{joined(from, folder)})
		}
	}
	return all
}

// elsewhere returns the folders in which what is found now runs, without that of the caller and what
// is below the project: names of files there are as good as seen from the project.
func (f *found) elsewhere() (list []string) {
	for _, folder := range f.here {
		if below, is := strings.CutPrefix(folder, f.project); is && strings.Count(f.project, "/") > 1 && (below == "" || below[0] == '/') {
			folder = strings.TrimPrefix(below, "/")
		}
		if folder != "" && folder != somewhere {
			list = append(list, folder)
		}
	}
	return list
}

// unmoved are programs whose words are no files, or not those that a rule is about.
var unmoved = []string{"cd", "pushd", "popd", "git", "echo", "printf", "export"}

// moved returns words with the files in them as seen from a folder, nil if that is nothing new.
func moved(words []Word, folder string) (list []Word) {
	if len(words) < 2 || slices.Contains(unmoved, words[0].Text) {
		return nil
	}
	p := place{now: folder, before: somewhere}
	for i, word := range words[1:] {
		before, text := "", word.Text
		if name, value, is := strings.Cut(text, "="); is && (name == "of" || name == "if") { // dd of=FILE
			before, text = name+"=", value
		}
		if !word.Literal {
			text = p.plain(text)
		}
		if text == "" || text[0] == '-' || text[0] == '$' || text[0] == '`' || strings.Contains(text, "://") {
			continue
		}
		if seen := joined(folder, text); before+seen != word.Text && seen != "" {
			if list == nil {
				list = slices.Clone(words)
			}
			list[i+1].Text = before + seen
		}
	}
	return list
}
