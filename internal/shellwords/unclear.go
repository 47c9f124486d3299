package shellwords

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

const (
	runsText    = "it has bash run a text that is not read here"
	opensHidden = "it has bash evaluate a text once more, and the line hides a command in quotes"
)

// textOptions are options of builtins whose value is run, or makes a name a command.
// "*" stands for every word: the builtin itself does that.
var textOptions = map[string]string{
	"mapfile": "C", "readarray": "C", "compgen": "CWF", "complete": "CWF", "hash": "p", "enable": "f", "bind": "xf", "fc": "*",
	"trap": "*", "alias": "*",
}

// naming are builtins that take names of variables, whose index is evaluated:
// read 'a[$(rm x)]'.
var naming = []string{"read", "printf", "unset", "getopts", "wait", "test", "[", "declare", "typeset", "local", "export", "readonly", "mapfile", "readarray", "let"}

// evaluated are variables whose value the shell evaluates once more, or runs.
var evaluated = []string{"PS0", "PS1", "PS2", "PS4", "PROMPT_COMMAND", "BASH_ENV"}

// unclear says why it does not show what a simple command runs, "" if it does.
func (r *reader) unclear(c *Command, stmt *syntax.Stmt) string {
	var assigned []*syntax.Assign
	switch cmd := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		assigned = cmd.Assigns
	case *syntax.DeclClause:
		assigned = cmd.Args
	}
	for _, assign := range assigned {
		if assign.Name != nil && slices.Contains(evaluated, assign.Name.Value) && !assign.Naked && (assign.Value != nil || assign.Array != nil) {
			return runsText
		}
	}
	if len(c.Words) == 0 {
		return ""
	}
	return r.builtin(c.Words)
}

// builtin says why a command, if it is a builtin of the shell or git, runs what its
// words do not show.
func (r *reader) builtin(words []Word) string {
	if !words[0].Literal {
		return ""
	}
	program, args := path.Base(words[0].Text), words[1:]
	options, takesText := textOptions[program]
	switch {
	case takesText && runsItsWords(options, args):
		return runsText
	case (program == "." || program == "source") && len(args) > 0 && (!args[0].Literal || strings.HasPrefix(args[0].Text, "/dev/") || strings.HasPrefix(args[0].Text, "/proc/")):
		return "it runs a file that only shows when it runs"
	case program == "git" && gitRuns(texts(args)):
		return "it has git run a command that is not read here"
	case slices.Contains(naming, program):
		named := slices.ContainsFunc(args, func(w Word) bool { return slices.Contains(evaluated, w.Text) })
		indexed := r.hides && slices.ContainsFunc(args, func(w Word) bool { return !w.Literal || index().MatchString(w.Text) })
		switch {
		case named:
			return runsText
		case indexed && (program != "printf" || len(args) > 0 && strings.HasPrefix(args[0].Text, "-v")):
			return opensHidden
		}
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

// gitRuns reports whether git is given a command to run: by a setting, or by a
// subcommand that does so.
func gitRuns(args []string) bool {
	config, rebase := slices.Contains(args, "config"), slices.Contains(args, "rebase")
	submodule, bisect := slices.Contains(args, "submodule"), slices.Contains(args, "bisect")
	for i, word := range args {
		setting, _, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(word, "-c")), "=")
		sets := strings.HasPrefix(word, "-c") || i > 0 && (args[i-1] == "-c" || args[i-1] == "--config-env") || config
		switch {
		case sets && gitPrograms().MatchString(setting),
			rebase && (word == "-x" || strings.HasPrefix(word, "--exec")),
			submodule && word == "foreach",
			bisect && word == "run":
			return true
		}
	}
	return false
}

// gitPrograms are settings whose value git runs.
var gitPrograms = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^alias\.|\.(pager|editor|sequenceeditor|sshcommand|askpass|hookspath|fsmonitor|gitproxy|textconv|command|external|driver|clean|smudge|process|helper|program|cmd|path)$|^(pager|include|includeif)\.`)
})

// evaluation adds a place where bash takes a text for arithmetic: it runs the
// commands in an index, quoted or not ([[ 'a[$(rm x)]' -eq 0 ]]). Such a place, and a
// loop over a variable that other programs heed, is no simple command; it counts as
// one by its text, so that a list of allowed commands must have it.
func (r *reader) evaluation(node syntax.Node) {
	c := Command{Text: r.slice(node), Given: r.given}
	arithmetic, simple := true, true
	switch n := node.(type) {
	case *syntax.ArithmCmd, *syntax.ArithmExp, *syntax.LetClause, *syntax.CStyleLoop:
		simple = r.simple(n)
	case *syntax.BinaryTest:
		arithmetic = slices.Contains(numberTests, n.Op)
		simple = r.simple(n)
	case *syntax.UnaryTest:
		arithmetic = n.Op == syntax.TsVarSet || n.Op == syntax.TsRefVar
		simple = r.simple(n)
	case *syntax.ParamExp:
		prompt := n.Exp != nil && n.Exp.Op == syntax.OtherParamOps && n.Exp.Word.Lit() == "P"
		index := n.Index == nil || r.simple(n.Index)
		slice := n.Slice == nil || (n.Slice.Offset == nil || r.simple(n.Slice.Offset)) && (n.Slice.Length == nil || r.simple(n.Slice.Length))
		simple = !prompt && !indirect(n) && index && slice
		arithmetic = !simple
	case *syntax.WordIter:
		if name := n.Name.Value; name == strings.ToUpper(name) && strings.ContainsFunc(name, isLetter) {
			c.Sets = []Word{{name + "=" + c.Text, false}}
			if slices.Contains(evaluated, name) {
				c.Unclear = runsText
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
		c.Words = []Word{{c.Text, true}}
		r.found.add(c)
	}
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
func (r *reader) simple(node syntax.Node) bool {
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

// hidesCommands reports whether a text has a command substitution in quotes, or
// after a backslash: one that runs if the text is evaluated once more.
func hidesCommands(file *syntax.File) (hides bool) {
	walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.SglQuoted:
			hides = hides || substitution().MatchString(n.Value) || n.Dollar && strings.Contains(n.Value, `\`)
		case *syntax.Lit:
			hides = hides || substitution().MatchString(n.Value)
		}
		return !hides
	})
	return hides
}

var substitution = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\\$\\\\?\\(|\\$\\{[ \t\n|]|`") })

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
