package builtin

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bash runs the commands that a text holds which it takes for arithmetic, quoted
// or not: [[ 'a[$(rm x)]' -eq 0 ]] removes x. Such places, and loops over a
// variable that other programs heed, are no simple commands, but count as
// commands, as written: a list of allowed ones must have them. Where the text
// does hide a command in quotes, what they run is not known.

// evaluation takes a node that evaluates a text which is more than numbers,
// names and operators.
func (s *shellSplitter) evaluation(node syntax.Node) {
	evaluates := false
	switch n := node.(type) {
	case *syntax.ArithmCmd:
		evaluates = !s.plain(n.X)
	case *syntax.ArithmExp:
		evaluates = !s.plain(n.X)
	case *syntax.LetClause:
		evaluates = !s.plain(n.Exprs...)
	case *syntax.CStyleLoop:
		evaluates = !s.plain(n.Init, n.Cond, n.Post)
	case *syntax.ParamExp:
		prompt := n.Exp != nil && n.Exp.Op == syntax.OtherParamOps && n.Exp.Word.Lit() == "P"
		evaluates = prompt || !s.plain(n.Index) || n.Slice != nil && !s.plain(n.Slice.Offset, n.Slice.Length)
	case *syntax.UnaryTest:
		word, is := n.X.(*syntax.Word)
		evaluates = (n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar) && !(is && s.plain(word))
	case *syntax.BinaryTest:
		evaluates = slices.Contains(numberTests, n.Op) && !(s.plainTest(n.X) && s.plainTest(n.Y))
	case *syntax.WordIter:
		evaluates = n.Name.Value == strings.ToUpper(n.Name.Value) && strings.ContainsFunc(n.Name.Value, isLetter)
	}
	if node == nil { // behind the last child of one
		return
	}
	text := s.slice(node.Pos(), node.End())
	switch {
	case text == "":
	case evaluates:
		s.take(shellCommand{text: text, words: []string{text}, known: []bool{true}, derived: s.derived, reads: s.hides})
	case s.hides && calculates(node): // a name may hold what the text hides
		s.take(shellCommand{text: text, derived: true, reads: true})
	}
}

// calculates reports whether a node takes a text for arithmetic.
func calculates(node syntax.Node) bool {
	switch n := node.(type) {
	case *syntax.ArithmCmd, *syntax.ArithmExp, *syntax.LetClause, *syntax.CStyleLoop:
		return true
	case *syntax.BinaryTest:
		return slices.Contains(numberTests, n.Op)
	}
	return false
}

// hidesCommands reports whether a text has a command substitution in quotes, or
// behind a backslash: one that runs if the text is evaluated once more.
func hidesCommands(file *syntax.File) (hides bool) {
	walkShell(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.SglQuoted:
			text := n.Value
			if n.Dollar {
				text = ansi(text)
			}
			hides = hides || substitutes(text)
		case *syntax.Lit:
			hides = hides || substitutes(n.Value)
		}
		return !hides
	})
	return hides
}

func substitutes(text string) bool {
	return strings.Contains(text, "$(") || strings.Contains(text, "`")
}

var numberTests = []syntax.BinTestOperator{syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr}

func isLetter(r rune) bool { return r >= 'A' && r <= 'Z' }

func (s *shellSplitter) plainTest(x syntax.TestExpr) bool {
	word, is := x.(*syntax.Word)
	return is && s.plain(word)
}

// plain reports whether arithmetic is known from its text: nothing in it is
// quoted or put in. A name's value is not known where the text itself may have
// given it one without an assignment.
func (s *shellSplitter) plain(list ...syntax.ArithmExpr) bool {
	return !slices.ContainsFunc(list, func(x syntax.ArithmExpr) bool {
		switch x := x.(type) {
		case *syntax.Word:
			return x != nil && !s.plainWord(x)
		case *syntax.BinaryArithm:
			return !s.plain(x.X, x.Y)
		case *syntax.UnaryArithm:
			return !s.plain(x.X)
		case *syntax.ParenArithm:
			return !s.plain(x.X)
		case nil:
			return false
		}
		return true
	})
}

func (s *shellSplitter) plainWord(w *syntax.Word) bool {
	text := w.Lit()
	switch {
	case text == "@" || text == "*": // all items of a list
		return true
	case text == "" || strings.Contains(text, `\`):
		return false
	}
	return !s.sets || text[0] >= '0' && text[0] <= '9'
}

// setsNames reports whether a text gives a variable a value other than by an
// assignment, which is a command of its own.
func setsNames(file *syntax.File) (sets bool) {
	walkShell(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.WordIter:
			sets = true
		case *syntax.ParamExp:
			sets = sets || n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull)
		}
		return !sets
	})
	return sets
}
