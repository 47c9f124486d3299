package shellwords

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// doubts finds what has bash run or evaluate a text in another way.
type doubts struct{ *reader }

const (
	runsText    = "it has bash run a text that is not read here"
	opensHidden = "it has bash evaluate a text once more, and the line hides a command in quotes"
)

// textOptions are options of builtins whose value is run, or makes a name a command.
// "*" stands for every word: the builtin itself does that.
var textOptions = map[string]string{
	"mapfile": "C", "readarray": "C", "compgen": "CWF", "complete": "CWF", "hash": "p", "enable": "f", "bind": "xf", "fc": "*",
}

// naming are builtins that take names of variables, whose index is evaluated:
// read 'a[$(rm x)]'.
var naming = []string{"read", "printf", "unset", "getopts", "wait", "test", "[", "declare", "typeset", "local", "export", "readonly", "mapfile", "readarray", "let"}

// evaluated are variables whose value the shell evaluates once more, or runs.
var evaluated = []string{"PS0", "PS1", "PS2", "PS4", "PROMPT_COMMAND", "BASH_ENV", "BASH_CMDS", "BASH_ALIASES"}

// integers are variables that take their value for arithmetic.
var integers = []string{"RANDOM", "SRANDOM", "OPTIND", "HISTCMD", "BASHPID", "EUID", "UID", "PPID", "SECONDS", "LINENO"}

// names reports whether one of some variables stands in a word as a whole name.
func names(word Word, variables []string) bool {
	isName := func(r rune) bool {
		return r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
	}
	return slices.ContainsFunc(strings.FieldsFunc(word.Text, func(r rune) bool { return !isName(r) }), func(name string) bool {
		return slices.Contains(variables, name) || strings.HasPrefix(name, "v") && slices.Contains(variables, name[1:]) // printf -vPS4
	})
}

// unclear says why it does not show what a simple command runs, "" if it does.
func (r doubts) unclear(c *Command, stmt *syntax.Stmt) string {
	var assigned []*syntax.Assign
	switch cmd := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		assigned = cmd.Assigns
	case *syntax.DeclClause:
		assigned = cmd.Args
	}
	for _, assign := range assigned {
		if r.hides && assign.Name != nil && slices.Contains(integers, assign.Name.Value) {
			return opensHidden
		}
		if assign.Name != nil && slices.Contains(evaluated, assign.Name.Value) && !assign.Naked && (assign.Value != nil || assign.Array != nil) {
			return runsText
		}
	}
	for _, words := range c.all() {
		if why := r.builtin(words); why != "" {
			return why
		}
	}
	return ""
}

// builtin says why a command, if it is a builtin of the shell or git, runs what its
// words do not show.
func (r doubts) builtin(words []Word) string {
	if len(words) == 0 || !words[0].named() {
		return ""
	}
	program, args := programName(words[0]), words[1:]
	options, takesText := textOptions[program]
	switch {
	case takesText && runsItsWords(options, args):
		return runsText
	case program == "trap":
		return r.trap(args)
	case program == "alias":
		return r.alias(args)
	case (program == "." || program == "source") && len(args) > 0 && isDevice(args[0]):
		return "it runs a file that only shows when it runs"
	case program == "exec" && slices.ContainsFunc(args, func(w Word) bool { return strings.HasPrefix(w.Text, "{") && strings.Contains(w.Text, "[") }):
		return runsText // exec {a[x]}>f
	case program == "git":
		return gitReader(r).git(args)
	case slices.Contains(naming, program) || slices.Contains([]string{"env", "sudo", "doas"}, program):
		return r.naming(program, args)
	}
	return ""
}

// naming says why a builtin that takes names of variables, or a program that sets some,
// has the shell evaluate a text.
func (r doubts) naming(program string, args []Word) string {
	has := func(is func(Word) bool) bool { return slices.ContainsFunc(args, is) }
	option := func(letter string) bool {
		return has(func(w Word) bool {
			return (strings.HasPrefix(w.Text, "-") || strings.HasPrefix(w.Text, "+")) && strings.Contains(w.Text, letter)
		})
	}
	declares := slices.Contains([]string{"declare", "typeset", "local", "export", "readonly"}, program)
	switch {
	case program == "printf" && !option("v"), (program == "test" || program == "[") && !has(func(w Word) bool { return !w.Literal || w.Text == "-v" || w.Text == "-R" }):
		return ""
	case has(func(w Word) bool { return names(w, evaluated) }):
		return runsText
	case declares && has(func(w Word) bool { return !w.Literal && !assigns().MatchString(w.Text) }),
		slices.Contains([]string{"read", "unset", "getopts"}, program) && has(isNotLiteral),
		program == "printf" && has(func(w Word) bool { return !w.Literal && strings.HasPrefix(args[0].Text, "-v") }) && (!args[0].Literal || len(args) > 1 && !args[1].Literal):
		return "it gives a variable a value whose name only shows when it runs"
	case r.hides && (declares && option("i") || has(func(w Word) bool {
		return !w.Literal || index().MatchString(w.Text) || names(w, integers) || declares && strings.Contains(w.Text, "=(")
	})):
		return opensHidden
	}
	return ""
}

// index is a name with an index.
var index = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[A-Za-z0-9_]\[`) })

func runsItsWords(options string, args []Word) bool {
	if options == "*" { // a trap is taken away by -, and all are listed by no word at all
		return len(args) > 0 && args[0].Text != "-" && args[0].Text != "-l" && args[0].Text != "-p"
	}
	return slices.ContainsFunc(args, func(w Word) bool {
		return !w.Literal || strings.HasPrefix(w.Text, "-") && strings.ContainsAny(w.Text, options)
	})
}

// evaluation adds a place where bash takes a text for arithmetic: it runs the
// commands in an index, quoted or not ([[ 'a[$(rm x)]' -eq 0 ]]). Such a place, and a
// loop over a variable that other programs heed, is no simple command; it counts as
// one by its text, so that a list of allowed commands must have it.
func (r doubts) evaluation(node syntax.Node) {
	c := Command{Text: r.slice(node), Given: r.given}
	arithmetic, simple := true, true
	switch n := node.(type) {
	case *syntax.Assign:
		arithmetic = n.Index != nil && !constant(n.Index)
	case *syntax.ArrayElem:
		arithmetic = n.Index != nil && !constant(n.Index)
	case *syntax.ArithmCmd, *syntax.ArithmExp, *syntax.LetClause, *syntax.CStyleLoop:
		simple = r.simple(n)
	case *syntax.BinaryTest:
		arithmetic = slices.Contains(numberTests, n.Op)
		simple = r.simple(n)
	case *syntax.UnaryTest:
		arithmetic = n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar
		simple = r.simple(n)
	case *syntax.CmdSubst:
		if n.Backquotes && strings.Contains(c.Text, `\"`) { // in double quotes it is a plain one
			c.Words, c.Unclear = []Word{{Text: c.Text, Literal: true}}, "it has quotes in a substitution in quotes"
			r.found.add(c)
		}
		return
	case *syntax.ParamExp:
		if n.Exp != nil && n.Exp.Word != nil && quotesNothing(n.Exp.Word) {
			c.Words, c.Unclear = []Word{{Text: c.Text, Literal: true}}, opensHidden
			r.found.add(c)
			return
		}
		prompt := n.Exp != nil && n.Exp.Op == syntax.OtherParamOps && n.Exp.Word.Lit() == "P"
		index := n.Index == nil || r.simple(n.Index)
		slice := n.Slice == nil || (n.Slice.Offset == nil || r.simple(n.Slice.Offset)) && (n.Slice.Length == nil || r.simple(n.Slice.Length))
		simple = !prompt && !indirect(n) && index && slice
		known := (n.Index == nil || constant(n.Index)) && (n.Slice == nil || (n.Slice.Offset == nil || constant(n.Slice.Offset)) && (n.Slice.Length == nil || constant(n.Slice.Length)))
		arithmetic = !simple || !known
	case *syntax.WordIter:
		if name := n.Name.Value; name == strings.ToUpper(name) && strings.ContainsFunc(name, isLetter) {
			c.Sets = []Word{{Text: name + "=" + c.Text}}
			switch {
			case slices.Contains(evaluated, name):
				c.Unclear = runsText
			case r.hides && slices.Contains(integers, name):
				c.Unclear = opensHidden
			}
			r.found.add(c)
		}
		return
	default:
		return
	}
	if arithmetic && r.hides { // a name may hold what the line hides
		c.Unclear = opensHidden
	}
	if c.Text != "" && arithmetic && (!simple || r.hides) {
		c.Words = []Word{{Text: c.Text, Literal: true}}
		r.found.add(c)
	}
}

// quotesNothing reports whether a word has what bash would run in single quotes, which
// are plain characters in "${x-'$(rm x)'}".
func quotesNothing(word *syntax.Word) bool {
	return slices.ContainsFunc(word.Parts, func(part syntax.WordPart) bool {
		quoted, is := part.(*syntax.SglQuoted)
		return is && strings.ContainsAny(quoted.Value, "$`")
	})
}

// indirect reports whether the value of a parameter is taken as a name: ${!x}.
func indirect(p *syntax.ParamExp) bool {
	word, is := p.Index.(*syntax.Word)
	keys := is && (word.Lit() == "@" || word.Lit() == "*")
	return p.Excl && p.Names == 0 && !keys
}

var numberTests = []syntax.BinTestOperator{syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr}

func isLetter(r rune) bool { return r >= 'A' && r <= 'Z' }

// simple reports whether arithmetic is known from its text: nothing in it is quoted
// or put in, and its names get their values from assignments.
func (r doubts) simple(node syntax.Node) bool {
	simple := true
	syntax.Walk(node, func(node syntax.Node) bool {
		word, is := node.(*syntax.Word)
		if !is {
			return true
		}
		text := word.Lit()
		known := text == "@" || text == "*" || text != "" && !strings.Contains(text, `\`)
		simple = simple && known && (!r.loops || text[0] < 'A')
		return false
	})
	return simple
}

// constant reports whether arithmetic holds no name: only numbers, or @ and * as an index.
func constant(node syntax.Node) bool {
	constant := true
	syntax.Walk(node, func(node syntax.Node) bool {
		if word, is := node.(*syntax.Word); is {
			text := word.Lit()
			constant = constant && (text == "@" || text == "*" || text != "" && strings.Trim(text, "0123456789") == "")
			return false
		}
		return true
	})
	return constant
}

// hidesCommands reports whether a text has a command substitution in quotes, or
// after a backslash: one that runs if the text is evaluated once more. A dollar at the
// end of a quoted part may become one.
func hidesCommands(file *syntax.File) (hides bool) {
	walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.SglQuoted:
			hides = hides || hasSubstitution(n.Value) || n.Dollar && strings.Contains(n.Value, `\`)
		case *syntax.Lit:
			hides = hides || hasSubstitution(n.Value)
		}
		return !hides
	})
	return hides
}

// hasSubstitution first looks for what each of them has: most words have neither.
func hasSubstitution(text string) bool {
	return strings.ContainsAny(text, "$`") && substitution().MatchString(text)
}

var substitution = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\\$\\\\?\\(|\\$\\{[ \t\n|]|`|\\$$") })

// setsInLoops reports whether a text gives a variable a value other than by an
// assignment, which is a command of its own.
func setsInLoops(file *syntax.File) (sets bool) {
	walk(file, func(node syntax.Node) bool {
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

// trap reads the text that a trap has bash run later.
func (r doubts) trap(args []Word) string {
	for len(args) > 0 && args[0].Text == "--" {
		args = args[1:]
	}
	switch {
	case len(args) < 2 || args[0].Text == "-" || args[0].Text == "-l" || args[0].Text == "-p":
		return ""
	case !args[0].Literal:
		return runsText
	}
	r.later = true
	r.givenText(args[0].Text, false)
	return ""
}

// alias reads the texts that aliases stand for. Words that are not known stand after one.
func (r doubts) alias(args []Word) string {
	for _, word := range args {
		name, value, is := strings.Cut(word.Text, "=")
		switch {
		case is && (!word.Literal || strings.ContainsAny(name, "[")):
			return runsText
		case is:
			r.later = true
			r.givenText(value, true)
		case !word.Literal:
			return runsText
		}
	}
	return ""
}

// bomb adds a function that starts itself again at its side: it starts processes without
// end. Patterns call it fork-bomb.
func (r doubts) bomb(node syntax.Node) {
	function, is := node.(*syntax.FuncDecl)
	if !is {
		return
	}
	calls, forks := 0, false
	walk(function.Body, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.CallExpr:
			if len(n.Args) > 0 && n.Args[0].Lit() == function.Name.Value {
				calls++
			}
		case *syntax.Stmt:
			forks = forks || n.Background
		case *syntax.BinaryCmd:
			forks = forks || n.Op == syntax.Pipe || n.Op == syntax.PipeAll
		}
		return true
	})
	if calls > 0 && forks {
		text := r.slice(function)
		r.found.add(Command{Text: text, Words: []Word{{Text: "fork-bomb", Literal: true}}, Given: r.given, Unclear: "a function that starts itself again and again"})
	}
}
