package builtin

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// shellBuiltin is a builtin of the shell that runs a command or evaluates a text
// which it is given as a word.
type shellBuiltin struct {
	options string // its option letters, as getopts has them: those with a value have a colon
	runs    string // options that run their value, with more words behind it
	opens   string // options whose value makes anything a command
	names   bool   // it evaluates the index of a name: a[$(rm x)]
}

var shellBuiltins = map[string]shellBuiltin{
	"mapfile":   {options: "d:n:O:s:tu:C:c:", runs: "C"},
	"readarray": {options: "d:n:O:s:tu:C:c:", runs: "C"},
	"compgen":   {options: "abcdefgjksuvo:A:G:W:F:C:X:P:S:V:", runs: "C", opens: "W"},
	"complete":  {options: "abcdefgjksuvo:A:G:W:F:C:X:P:S:prDEI", runs: "C", opens: "W"},
	"hash":      {options: "lrp:dt", runs: "p"},
	"enable":    {options: "adnpsf:", opens: "f"},
	"bind":      {options: "lpsvPSVXf:q:u:m:r:x:", opens: "fx"},
	"fc":        {options: "e:lnrs", opens: "es"},
	"read":      {options: "a:d:ei:n:N:p:rst:u:E", names: true},
	"printf":    {options: "v:", names: true},
	"unset":     {options: "fvn", names: true},
	"getopts":   {names: true},
	"wait":      {options: "fnp:", names: true},
	"test":      {names: true},
	"[":         {names: true},
	"declare":   {names: true},
	"typeset":   {names: true},
	"local":     {names: true},
	"export":    {names: true},
	"readonly":  {names: true},
}

// indexed is a name whose index runs a command.
var indexed = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(^|=)['"\\]*[A-Za-z_][A-Za-z0-9_]*\\?\[.*(\$\(|\x60)`)
})

// builtin takes what a builtin runs by itself.
func (s *shellSplitter) builtin(program string, c *shellCommand) {
	b, is := shellBuiltins[program]
	if !is {
		return
	}
	if b.names && slices.ContainsFunc(c.words[1:], indexed().MatchString) {
		s.markReads(c)
	}
	for i := 1; i < len(c.words) && s.failed == nil; i++ {
		word := c.words[i]
		if !c.known[i] && !b.names { // it may be an option
			s.markReads(c)
			return
		}
		if len(word) < 2 || word[0] != '-' || word == "--" {
			return
		}
		i += s.letters(&b, c, i)
	}
}

// letters takes the options of one word, and returns how many words behind it
// are a value of theirs.
func (s *shellSplitter) letters(b *shellBuiltin, c *shellCommand, at int) (values int) {
	word := c.words[at]
	for i := 1; i < len(word); i++ {
		letter := word[i : i+1]
		value, known := word[i+1:], c.known[at]
		takes := strings.Contains(b.options, letter+":")
		if takes && value == "" && at+1 < len(c.words) {
			value, known, values = c.words[at+1], c.known[at+1], 1
		}
		switch {
		case strings.Contains(b.runs, letter):
			if s.markReads(c); known {
				s.againWith(value, true)
			}
		case strings.Contains(b.opens, letter) && (letter != "W" || !known || substitutes(value)):
			s.markReads(c)
		}
		if takes {
			return values
		}
	}
	return 0
}

// evaluated are variables whose value the shell evaluates once more: it runs the
// substitutions in a prompt, the command PROMPT_COMMAND, and the file BASH_ENV.
var evaluated = []string{"PS0", "PS1", "PS2", "PS4", "PROMPT_COMMAND", "BASH_ENV"}

// assigned takes what an assignment has the shell run later.
func (s *shellSplitter) assigned(assign *syntax.Assign, c *shellCommand) {
	if assign.Name == nil || !slices.Contains(evaluated, assign.Name.Value) || assign.Naked {
		return
	}
	whole := shellCommand{text: s.slice(assign.Pos(), assign.End())}
	switch value := assign.Value; {
	case value == nil && assign.Array == nil: // emptied
	case value == nil || slices.ContainsFunc(value.Parts, func(p syntax.WordPart) bool { return !knownPart(p) }):
		s.markReads(&whole)
	case assign.Name.Value == "PROMPT_COMMAND":
		s.again(s.literal(value))
	}
}

var promptNames = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bPS[0124]\b`) })

// prompts takes a text that names a prompt and hides a command, which the shell
// runs when it shows the prompt: by whatever way one came into the other.
func (s *shellSplitter) prompts() {
	if s.hides && promptNames().MatchString(s.source) {
		s.markReads(&shellCommand{text: s.source})
	}
}
