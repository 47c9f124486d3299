package builtin

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// shellCommand is one simple command of a shell text.
type shellCommand struct {
	text    string   // as written
	words   []string // without quotes; as written where known says that they are not known
	known   []bool   // whether a word is known before the command runs
	sets    []string // assignments before the words, as written
	writes  []string // redirections that write to a file, as written
	derived bool     // not run by the shell itself: sudo, xargs, sh -c and the like run it
	reads   bool     // it runs what it reads, or a text that is only known when it runs
}

// Bounds of a text that is split; beyond them it is not taken to be readable.
const (
	longestShellText = 16 << 10
	deepestShellText = 5       // shells in shells
	mostShellParts   = 2000    // simple commands in a text
	mostShellBytes   = 1 << 20 // of their texts together: those that a command is given to run are in it again
	mostBraceWords   = 64      // words that the braces of one word stand for
)

// splitShell returns every simple command in a text for bash: those in
// substitutions, functions and subshells, and, marked as derived, those that
// other commands are given to run. It runs nothing and expands nothing that
// depends on the world; a word that does is kept as written.
func splitShell(text string) ([]shellCommand, error) {
	s := shellSplitter{}
	if err := s.split(text, false, 0); err != nil {
		return nil, err
	}
	return s.commands, nil
}

type shellSplitter struct {
	commands []shellCommand
	size     int    // of the commands' texts
	source   string // of the text that is split
	derived  bool
	sets     bool // see setsNames
	hides    bool // see hidesCommands
	depth    int
	failed   error
}

func (s *shellSplitter) split(text string, derived bool, depth int) error {
	switch {
	case len(text) > longestShellText:
		return fmt.Errorf("it is longer than %d bytes", longestShellText)
	case depth > deepestShellText:
		return fmt.Errorf("it holds shells in shells, more than %d deep", deepestShellText)
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return fmt.Errorf("it cannot be read as bash (%w)", err)
	}
	inner := shellSplitter{source: text, derived: derived, depth: depth, commands: s.commands, size: s.size, sets: setsNames(file), hides: hidesCommands(file)}
	walkShell(file, func(node syntax.Node) bool {
		if stmt, is := node.(*syntax.Stmt); is {
			inner.statement(stmt)
		} else {
			inner.evaluation(node)
		}
		return inner.failed == nil
	})
	inner.prompts()
	s.commands, s.size = inner.commands, inner.size
	return inner.failed
}

// statement takes a statement's simple command, if it is one, and what its
// redirections write. What is inside of it is walked by the caller.
func (s *shellSplitter) statement(stmt *syntax.Stmt) {
	c := shellCommand{text: s.slice(stmt.Pos(), stmt.End()), derived: s.derived}
	switch cmd := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		for _, assign := range cmd.Assigns {
			c.sets = append(c.sets, s.slice(assign.Pos(), assign.End()))
			s.assigned(assign, &c)
		}
		for _, word := range cmd.Args {
			s.word(&c, word)
		}
	case *syntax.DeclClause:
		c.add(cmd.Variant.Value, true)
		for _, arg := range cmd.Args {
			c.add(s.slice(arg.Pos(), arg.End()), true)
			s.assigned(arg, &c)
		}
	}
	for _, redirect := range stmt.Redirs {
		switch redirect.Op {
		case syntax.RdrOut, syntax.AppOut, syntax.ClbOut, syntax.RdrAll, syntax.AppAll, syntax.RdrInOut, syntax.DplOut:
			target := s.slice(redirect.Word.Pos(), redirect.Word.End())
			copies := redirect.Op == syntax.DplOut && strings.Trim(target, "0123456789-") == ""
			if target != "/dev/null" && !copies {
				c.writes = append(c.writes, redirect.Op.String()+" "+target)
			}
		}
	}
	if len(c.words)+len(c.sets)+len(c.writes) == 0 {
		return
	}
	s.take(c)
	s.inside(&c, stmt.Redirs)
}

func (s *shellSplitter) take(c shellCommand) {
	if s.size += len(c.text); len(s.commands) >= mostShellParts || s.size > mostShellBytes {
		s.failed = fmt.Errorf("it has more than %d commands, or long ones in one another", mostShellParts)
		return
	}
	s.commands = append(s.commands, c)
}

func (s *shellSplitter) slice(from, to syntax.Pos) string {
	begin, end := min(int(from.Offset()), len(s.source)), min(int(to.Offset()), len(s.source))
	return strings.TrimSpace(s.source[begin:max(begin, end)])
}

// walkShell is [syntax.Walk] with what that leaves out: the numbers in ${a:x:y}.
func walkShell(node syntax.Node, visit func(syntax.Node) bool) {
	syntax.Walk(node, func(node syntax.Node) bool {
		if !visit(node) {
			return false
		}
		if p, is := node.(*syntax.ParamExp); is && p.Slice != nil {
			for _, number := range []syntax.ArithmExpr{p.Slice.Offset, p.Slice.Length} {
				if number != nil {
					walkShell(number, visit)
				}
			}
		}
		return true
	})
}
