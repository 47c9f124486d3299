package builtin

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// shells run a text or a file of commands, wrappers run the command behind their
// own name and options, or one that an argument holds.
var (
	shells   = []string{"sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "rbash", "fish"}
	wrappers = []string{
		"sudo", "doas", "su", "env", "exec", "command", "builtin", "nohup", "nice", "ionice", "time", "timeout",
		"xargs", "parallel", "find", "fd", "watch", "script", "setsid", "stdbuf", "flock", "chroot", "unshare", "nsenter",
		"strace", "ltrace", "ssh", "busybox", "toybox", "eval", "trap", "alias", "coproc", "runuser", "systemd-run", "chrt", "taskset",
		"pkexec", "gosu", "unbuffer", "entr", "setpriv", "prlimit", "numactl", "capsh", "screen", "tmux",
	}
	sourcers = []string{".", "source"}

	// adders run a command with words that are only known then.
	adders = []string{"xargs", "parallel", "find", "fd", "alias", "entr"}
)

// inside takes the commands that a command is given to run.
func (s *shellSplitter) inside(c *shellCommand, redirects []*syntax.Redirect) {
	if len(c.words) == 0 || !c.known[0] {
		return
	}
	s.given(c, redirects)
	program := path.Base(c.words[0])
	shell, adds := slices.Contains(shells, program), slices.Contains(adders, program)
	if !shell && !slices.Contains(wrappers, program) {
		return
	}
	if program == "eval" {
		s.again(strings.Join(c.words[1:], " "))
		return
	}
	whole := *c
	if adds {
		whole.addUnknown()
	}
	for i := 1; i < len(c.words) && s.failed == nil; i++ {
		word := c.words[i]
		if _, value, found := strings.Cut(word, "="); found && program == "alias" {
			word = value
		}
		if c.known[i] && strings.ContainsAny(word, " \t\n;&|<>()$`") || program == "alias" {
			s.againWith(word, adds)
			s.optionValue(word, adds)
		}
		if !shell && !strings.HasPrefix(word, "-") && !(adds && isPlace(word)) {
			part := shellCommand{text: strings.Join(c.words[i:], " "), words: whole.words[i:], known: whole.known[i:], derived: true}
			s.take(part)
			if part.known[0] {
				s.given(&part, redirects)
			}
		}
	}
}

// optionValue takes a command that stands in one word with its option:
// --split-string='git push', -S'git push'.
func (s *shellSplitter) optionValue(word string, adds bool) {
	_, value, isLong := strings.Cut(word, "=")
	switch {
	case strings.HasPrefix(word, "--") && isLong:
		s.againWith(value, adds)
	case strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && len(word) > 2:
		s.againWith(word[2:], adds)
	}
}

// git takes what git is given to run: an alias of its own for this call, and the
// commands of rebase, bisect and submodule.
func (s *shellSplitter) git(c *shellCommand) {
	rebase, submodule, bisect := slices.Contains(c.words, "rebase"), slices.Contains(c.words, "submodule"), slices.Contains(c.words, "bisect")
	for i := 1; i < len(c.words); i++ {
		word := c.words[i]
		_, alias, isAlias := strings.Cut(word, "=")
		isAlias = isAlias && strings.HasPrefix(strings.ToLower(strings.TrimPrefix(word, "-c")), "alias.")
		command, isShell := strings.CutPrefix(alias, "!")
		switch {
		case isAlias && isShell:
			s.againWith(command, true)
		case isAlias:
			s.againWith("git "+alias, true)
		case rebase && strings.HasPrefix(word, "--exec="):
			s.again(strings.TrimPrefix(word, "--exec="))
		case rebase && (word == "-x" || word == "--exec") && i+1 < len(c.words):
			s.again(c.words[i+1])
		case submodule && word == "foreach" || bisect && word == "run":
			s.again(strings.TrimPrefix(strings.Join(c.words[i+1:], " "), "--recursive "))
			return
		}
	}
}

// given takes what a program runs by itself: a shell a script, some builtins a
// command that an option holds.
func (s *shellSplitter) given(c *shellCommand, redirects []*syntax.Redirect) {
	program := path.Base(c.words[0])
	switch shell := slices.Contains(shells, program); {
	case shell || slices.Contains(sourcers, program):
		s.script(c, shell, redirects)
	case program == "git":
		s.git(c)
	default:
		s.builtin(program, c)
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

// againWith is again for a text that more words are put behind when it runs.
func (s *shellSplitter) againWith(text string, more bool) {
	before := len(s.commands)
	s.again(text)
	for i := before; more && i < len(s.commands); i++ {
		s.commands[i].addUnknown()
	}
}

// addUnknown adds a word that is only known when the command runs. What the
// command shares its words with stays as it is.
func (c *shellCommand) addUnknown() {
	c.words, c.known = append(slices.Clone(c.words), "…"), append(slices.Clone(c.known), false)
	for i, word := range c.words {
		if isPlace(word) {
			c.known[i] = false
		}
	}
}

// isPlace reports whether a word stands for ones that find, xargs and parallel
// put in its place, or begins their list.
func isPlace(word string) bool { return word == "{}" || strings.HasPrefix(word, ":::") }

// again splits a text that a command is given to run. One that cannot be read
// fails the whole.
func (s *shellSplitter) again(text string) {
	if err := s.split(text, true, s.depth+1); err != nil && s.failed == nil {
		s.failed = err
	}
}
