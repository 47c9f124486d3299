package builtin

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
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
	reads   bool     // a shell that runs what it reads, or a script only known when it runs
}

// Bounds of a text that is split; beyond them it is not taken to be readable.
const (
	longestShellText = 16 << 10
	deepestShellText = 5    // shells in shells
	mostShellParts   = 2000 // simple commands in a text
	mostBraceWords   = 64   // words that the braces of one word stand for
)

// shells run a text or a file of commands, wrappers run the command behind their
// own name and options, or one that an argument holds.
var (
	shells   = []string{"sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "rbash", "fish"}
	wrappers = []string{
		"sudo", "doas", "su", "env", "exec", "command", "builtin", "nohup", "nice", "ionice", "time", "timeout",
		"xargs", "parallel", "find", "fd", "watch", "script", "setsid", "stdbuf", "flock", "chroot", "unshare", "nsenter",
		"strace", "ltrace", "ssh", "busybox", "toybox", "eval", "trap", "alias", "coproc", "runuser", "systemd-run", "chrt", "taskset",
	}
	sourcers = []string{".", "source"}
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
	source   string // of the text that is split
	derived  bool
	sets     bool // see setsNames
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
	inner := shellSplitter{source: text, derived: derived, depth: depth, commands: s.commands, sets: setsNames(file)}
	syntax.Walk(file, func(node syntax.Node) bool {
		if stmt, is := node.(*syntax.Stmt); is {
			inner.statement(stmt)
		} else {
			inner.evaluation(node)
		}
		return inner.failed == nil
	})
	s.commands = inner.commands
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
		}
		for _, word := range cmd.Args {
			s.word(&c, word)
		}
	case *syntax.DeclClause:
		c.add(cmd.Variant.Value, true)
		for _, arg := range cmd.Args {
			c.add(s.slice(arg.Pos(), arg.End()), true)
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
	if len(s.commands) >= mostShellParts {
		s.failed = fmt.Errorf("it has more than %d commands", mostShellParts)
		return
	}
	s.commands = append(s.commands, c)
}

// inside takes the commands that a command is given to run.
func (s *shellSplitter) inside(c *shellCommand, redirects []*syntax.Redirect) {
	if len(c.words) == 0 || !c.known[0] {
		return
	}
	program := path.Base(c.words[0])
	shell := slices.Contains(shells, program)
	if shell || slices.Contains(sourcers, program) {
		s.script(c, shell, redirects)
	}
	if !shell && !slices.Contains(wrappers, program) {
		return
	}
	if program == "eval" {
		s.again(strings.Join(c.words[1:], " "))
		return
	}
	for i := 1; i < len(c.words) && s.failed == nil; i++ {
		word := c.words[i]
		if _, value, found := strings.Cut(word, "="); found && program == "alias" {
			word = value
		}
		if c.known[i] && strings.ContainsAny(word, " \t\n;&|<>()$`") || program == "alias" {
			s.again(word)
		}
		if !shell && !strings.HasPrefix(word, "-") {
			part := shellCommand{text: strings.Join(c.words[i:], " "), words: c.words[i:], known: c.known[i:], derived: true}
			s.take(part)
			if base := path.Base(part.words[0]); slices.Contains(shells, base) && part.known[0] {
				s.script(&part, true, redirects)
			}
		}
	}
}

// script looks at what a shell runs: a here-document, a file, or what it reads.
func (s *shellSplitter) script(c *shellCommand, shell bool, redirects []*syntax.Redirect) {
	for _, redirect := range redirects {
		switch {
		case redirect.Hdoc != nil:
			s.again(s.slice(redirect.Hdoc.Pos(), redirect.Hdoc.End()))
			return
		case redirect.Op == syntax.WordHdoc:
			s.again(s.literal(redirect.Word))
			return
		}
	}
	for i := 1; i < len(c.words); i++ {
		switch word := c.words[i]; {
		case !c.known[i]:
			s.markReads(c)
			return
		case strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && strings.Contains(word, "c"):
			if i+1 < len(c.words) && !c.known[i+1] {
				s.markReads(c)
			}
			return
		case word == "-" || word == "-s" || strings.HasPrefix(word, "/dev/"):
			s.markReads(c)
			return
		case !strings.HasPrefix(word, "-"):
			return // a script in a file
		}
	}
	if shell {
		s.markReads(c)
	}
}

func (s *shellSplitter) markReads(c *shellCommand) {
	reads := *c
	reads.reads, reads.derived = true, true
	s.take(reads)
}

// again splits a text that a command is given to run. One that cannot be read
// fails the whole.
func (s *shellSplitter) again(text string) {
	if err := s.split(text, true, s.depth+1); err != nil && s.failed == nil {
		s.failed = err
	}
}

// word adds the words that a word of the text stands for.
func (s *shellSplitter) word(c *shellCommand, word *syntax.Word) {
	written := s.slice(word.Pos(), word.End())
	copied := *word
	words := []*syntax.Word{&copied}
	if syntax.SplitBraces(&copied) {
		if tooManyBraces(&copied) {
			c.add(written, false)
			return
		}
		words = expand.Braces(&copied)
	}
	for _, w := range words {
		known := true
		for _, part := range w.Parts {
			known = known && knownPart(part)
		}
		switch {
		case !known:
			c.add(written, false)
		case len(c.words) == 0 && hasGlob(w): // /bin/r? is a program only known when it runs
			c.add(written, false)
		default:
			c.add(s.literal(w), true)
		}
	}
}

func (c *shellCommand) add(word string, known bool) {
	c.words, c.known = append(c.words, word), append(c.known, known)
}

func (s *shellSplitter) slice(from, to syntax.Pos) string {
	begin, end := min(int(from.Offset()), len(s.source)), min(int(to.Offset()), len(s.source))
	return strings.TrimSpace(s.source[begin:max(begin, end)])
}

// tooManyBraces reports whether a word stands for more words than are looked
// at, or for a sequence, {1..9}, of which only its ends are written.
func tooManyBraces(word *syntax.Word) bool {
	return braceWords(word) > mostBraceWords
}

func braceWords(word *syntax.Word) int {
	count := 1
	for _, part := range word.Parts {
		braces, is := part.(*syntax.BraceExp)
		if !is {
			continue
		}
		sum := 0
		for _, elem := range braces.Elems {
			sum += braceWords(elem)
		}
		if count *= max(1, sum); braces.Sequence || count > mostBraceWords {
			return mostBraceWords + 1
		}
	}
	return count
}

// knownPart reports whether a part of a word is the same whenever it runs.
func knownPart(part syntax.WordPart) bool {
	switch p := part.(type) {
	case *syntax.Lit, *syntax.SglQuoted:
		return true
	case *syntax.DblQuoted:
		return !slices.ContainsFunc(p.Parts, func(inner syntax.WordPart) bool { return !knownPart(inner) })
	}
	return false
}

func hasGlob(word *syntax.Word) bool {
	return slices.ContainsFunc(word.Parts, func(part syntax.WordPart) bool {
		lit, is := part.(*syntax.Lit)
		return is && strings.ContainsAny(lit.Value, "*?[") && lit.Value != "["
	})
}

// literal is a word without its quotes. Parts that are not known stay as
// written.
func (s *shellSplitter) literal(word *syntax.Word) string {
	var b strings.Builder
	for _, part := range word.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(unescape(p.Value, ""))
		case *syntax.SglQuoted:
			if p.Dollar {
				b.WriteString(ansi(p.Value))
			} else {
				b.WriteString(p.Value)
			}
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				if lit, is := inner.(*syntax.Lit); is {
					b.WriteString(unescape(lit.Value, "$`\"\\\n"))
				} else {
					b.WriteString(s.slice(inner.Pos(), inner.End()))
				}
			}
		default:
			b.WriteString(s.slice(part.Pos(), part.End()))
		}
	}
	return b.String()
}

// unescape takes backslashes away: all of them, or those before one of only.
func unescape(text, only string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && (only == "" || strings.IndexByte(only, text[i+1]) >= 0) {
			i++
			if text[i] == '\n' {
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// ansi is a text between $' and ' with its escapes carried out.
func ansi(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		digits, base, from := 0, 16, i+1
		switch c := text[i]; c {
		case 'x':
			digits = 2
		case 'u':
			digits = 4
		case 'U':
			digits = 8
		case '0', '1', '2', '3', '4', '5', '6', '7':
			digits, base, from = 3, 8, i
		default:
			if at := strings.IndexByte("abeEfnrtv", c); at >= 0 {
				c = "\a\b\x1b\x1b\f\n\r\t\v"[at]
			}
			b.WriteByte(c)
			continue
		}
		to := from
		for to < len(text) && to-from < digits {
			if _, err := strconv.ParseUint(text[to:to+1], base, 8); err != nil {
				break
			}
			to++
		}
		value, err := strconv.ParseUint(text[from:to], base, 32)
		switch {
		case err != nil:
			b.WriteString(text[i-1 : i+1])
		case digits > 3:
			b.WriteRune(rune(value))
		default:
			b.WriteByte(byte(value))
		}
		i = max(i, to-1)
	}
	return b.String()
}
