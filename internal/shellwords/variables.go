package shellwords

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// settled are the variables of a text whose values show from it, where they were given
// before.
type settled struct {
	values map[string][]Word
	given  map[string][]span // where a value was always given before
}

type span struct{ begin, end uint }

// at returns the values that a variable may have at a place, nil if they are not known.
func (s *settled) at(name string, place uint) []Word {
	if s == nil {
		return nil
	}
	for _, span := range s.given[name] {
		if span.begin <= place && place < span.end {
			return s.values[name]
		}
	}
	return nil
}

// ownNames are variables that the shell sets itself, or that change what it makes of others.
var ownNames = []string{
	"PWD", "OLDPWD", "RANDOM", "SRANDOM", "SECONDS", "LINENO", "_", "UID", "EUID", "PPID", "OPTARG", "OPTIND", "REPLY",
	"DIRSTACK", "GROUPS", "FUNCNAME", "HISTCMD", "HOSTNAME", "COLUMNS", "LINES", "SHELLOPTS", "PIPESTATUS", "IFS",
}

// settersByName are builtins that give values to the variables whose names are their
// words; settersAtAll may give one to any.
var (
	settersByName = []string{"read", "mapfile", "readarray", "unset", "getopts", "printf", "wait"}
	settersAtAll  = []string{"eval", "source", ".", "let", "trap", "alias", "enable", "bind", "coproc", "declare", "typeset", "local", "export", "readonly", "command", "builtin"}
)

// settle finds what a text gives its variables: plain assignments of what is known, and
// loops over that. A variable that may get a value in another way is left out, and all
// are where the text does what cannot be followed.
func settle(r *reader, file *syntax.File) *settled {
	s := &settler{reader: r, out: &settled{values: map[string][]Word{}, given: map[string][]span{}}, count: map[string]int{}, other: map[string]bool{}}
	if !s.sets(file) {
		return nil
	}
	for _, name := range ownNames {
		s.other[name] = true
	}
	r.settled = s.out // values may be made of earlier ones
	defer func() { r.settled = nil }()
	walk(file, func(node syntax.Node) bool {
		s.node(node)
		return !s.lost
	})
	if s.lost {
		return nil
	}
	for name := range s.other {
		delete(s.out.values, name)
	}
	return s.out
}

type settler struct {
	*reader
	out   *settled
	count map[string]int  // how often a name gets a value
	other map[string]bool // gets a value in another way
	lost  bool
}

// sets counts what a text gives values to, and reports whether there is any.
func (s *settler) sets(file *syntax.File) bool {
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.Assign:
			if n.Name != nil {
				s.count[n.Name.Value]++
			}
		case *syntax.WordIter:
			s.count[n.Name.Value]++
		}
		return true
	})
	return len(s.count) > 0
}

func (s *settler) node(node syntax.Node) {
	switch n := node.(type) {
	case *syntax.File:
		s.list(n.Stmts, n.End().Offset()+1)
	case *syntax.Block:
		s.list(n.Stmts, n.End().Offset())
	case *syntax.Subshell:
		s.list(n.Stmts, n.End().Offset())
	case *syntax.IfClause:
		s.list(n.Then, n.End().Offset())
	case *syntax.WhileClause:
		s.list(n.Do, n.End().Offset())
	case *syntax.CmdSubst:
		s.list(n.Stmts, n.End().Offset())
	case *syntax.CaseItem:
		s.list(n.Stmts, n.End().Offset())
	case *syntax.ForClause:
		s.list(n.Do, n.End().Offset())
		if iter, is := n.Loop.(*syntax.WordIter); is && len(n.Do) > 0 {
			s.loop(iter, n)
		}
	case *syntax.BinaryCmd:
		if n.Op == syntax.AndStmt {
			s.statement(n.X, n.Y.End().Offset())
		}
	case *syntax.CallExpr:
		s.call(n)
	case *syntax.DeclClause:
		s.declared(n)
	case *syntax.Assign:
		if n.Name != nil && n.Name.Value == "IFS" {
			s.lost = true
		}
		if n.Name != nil && (n.Append || n.Array != nil || n.Index != nil || strings.HasPrefix(n.Name.Value, "BASH")) {
			s.other[n.Name.Value] = true
		}
	case *syntax.ParamExp:
		if n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) && n.Param != nil {
			s.other[n.Param.Value] = true
		}
	case *syntax.ArithmCmd, *syntax.ArithmExp, *syntax.CStyleLoop:
		syntax.Walk(n, func(node syntax.Node) bool {
			if word, is := node.(*syntax.Word); is {
				s.other[word.Lit()] = true
			}
			return true
		})
	case *syntax.LetClause, *syntax.CoprocClause:
		s.lost = true
	case *syntax.Redirect:
		s.lost = s.lost || n.N != nil && strings.HasPrefix(n.N.Value, "{")
	}
}

// list notes the plain assignments among statements that run one after the other: what
// stands after one, up to the end, runs after it.
func (s *settler) list(statements []*syntax.Stmt, end uint) {
	for _, stmt := range statements {
		s.statement(stmt, end)
	}
}

// statement notes what a statement sets for what runs after it, up to the end.
func (s *settler) statement(stmt *syntax.Stmt, end uint) {
	if stmt.Background || stmt.Coprocess || stmt.Negated {
		return
	}
	given := func(name string) {
		s.out.given[name] = append(s.out.given[name], span{stmt.End().Offset(), end})
	}
	switch cmd := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		for _, assign := range cmd.Assigns {
			if len(cmd.Args) == 0 && assign.Value != nil {
				given(assign.Name.Value)
			}
		}
	case *syntax.DeclClause:
		for _, assign := range cmd.Args {
			if assign.Name != nil && assign.Value != nil {
				given(assign.Name.Value)
			}
		}
	case *syntax.BinaryCmd:
		if cmd.Op == syntax.AndStmt || cmd.Op == syntax.OrStmt { // what begins it always runs
			s.statement(cmd.X, end)
		}
	}
}

// value keeps a value of a variable.
func (s *settler) value(name string, words ...*syntax.Word) {
	for _, word := range words {
		forms, known := filler{s.reader}.formsOf(word)
		syntax.Walk(word, func(node syntax.Node) bool {
			p, is := node.(*syntax.ParamExp)
			known = known && (!is || p.Param == nil || s.count[p.Param.Value] == 1) // else not all of its values were seen
			return true
		})
		if s.out.values[name] = append(s.out.values[name], slices.Concat(forms...)...); !known || len(s.out.values[name]) > maxValues {
			s.other[name] = true
			return
		}
	}
}

func (s *settler) loop(iter *syntax.WordIter, n *syntax.ForClause) {
	name := iter.Name.Value
	if n.Select || iter.InPos.Line() == 0 || len(iter.Items) == 0 { // what is typed, or the words of the function
		s.other[name] = true
		return
	}
	s.value(name, iter.Items...)
	s.out.given[name] = append(s.out.given[name], span{n.Do[0].Pos().Offset(), n.End().Offset()})
}

// declared notes the values of export, local and their like.
func (s *settler) declared(n *syntax.DeclClause) {
	for _, arg := range n.Args {
		switch {
		case arg.Name == nil && arg.Value != nil && strings.Trim(arg.Value.Lit(), "-rxg") == "" && arg.Value.Lit() != "":
		case arg.Name == nil:
			s.lost = true
		case arg.Value != nil && !arg.Append:
			s.value(arg.Name.Value, arg.Value)
		}
	}
}

// call notes what a simple command sets, or may set.
func (s *settler) call(n *syntax.CallExpr) {
	for _, assign := range n.Assigns {
		if len(n.Args) > 0 || assign.Value == nil && assign.Array == nil {
			s.other[assign.Name.Value] = true // for one command, or made empty
		} else if assign.Value != nil && !assign.Append {
			s.value(assign.Name.Value, assign.Value)
		}
	}
	if len(n.Args) == 0 {
		return
	}
	forms, known := filler{s.reader}.formsOf(n.Args[0])
	for _, form := range forms {
		if len(form) == 0 || !known && form[0].base() == "" {
			s.lost = true
			return
		}
		program := form[0].Text
		if form[0].base() != "" {
			program = form[0].base()
		}
		s.setter(program, n.Args[1:])
	}
	s.lost = s.lost || len(forms) == 0
}

func (s *settler) setter(program string, args []*syntax.Word) {
	switch {
	case program == "command" || program == "builtin":
		for _, arg := range args {
			if text := arg.Lit(); text == "" || slices.Contains(settersAtAll, text) || slices.Contains(settersByName, text) {
				s.lost = true
			}
		}
	case slices.Contains(settersAtAll, program):
		s.lost = true
	case slices.Contains(settersByName, program):
		if program == "printf" && len(args) > 0 && !strings.HasPrefix(args[0].Lit(), "-") && args[0].Lit() != "" {
			return
		}
		if program == "printf" && len(args) > 0 && args[0].Lit() == "" { // a format in quotes
			if text, literal := unquoted(args[0].Parts, false); literal && !strings.HasPrefix(text, "-") {
				return
			}
		}
		for _, arg := range args {
			text, literal := unquoted(arg.Parts, false)
			if !literal || strings.Contains(text, "[") {
				s.lost = true
			}
			s.other[text] = true
			s.other[strings.TrimLeft(strings.TrimLeft(text, "-"), "avnp")] = true // -vNAME
		}
	}
}

// note notes what a text defines, before any of it is read.
func (f *found) note(file *syntax.File) {
	walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.FuncDecl:
			f.functions[n.Name.Value] = true
		case *syntax.Assign:
			if n.Name != nil {
				f.sets[n.Name.Value] = true
			}
		case *syntax.WordIter:
			f.sets[n.Name.Value] = true
		case *syntax.CallExpr:
			if len(n.Args) > 0 {
				name := n.Args[0].Lit()
				f.renames = f.renames || slices.Contains(renamers, name)
				if name == "" || slices.Contains(settersByName, name) || slices.Contains(settersAtAll, name) {
					f.noteNames(name, n.Args[1:])
				}
			}
		}
		return true
	})
}

// noteNames notes the variables that a builtin may give values to.
func (f *found) noteNames(program string, args []*syntax.Word) {
	f.sets[""] = f.sets[""] || program == ""
	for _, arg := range args {
		text, literal := unquoted(arg.Parts, false)
		if literal {
			name, _, _ := strings.Cut(strings.TrimPrefix(text, "-v"), "=")
			f.sets[name] = true
		} else if program != "source" && program != "." && program != "printf" || arg == args[0] {
			f.sets[""] = true
		}
	}
}

// renamers are builtins that may give the name of a command another meaning.
var renamers = []string{"alias", "enable", "hash", "eval", "source", "."}
