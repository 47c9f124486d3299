package shellwords

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// wrapper is a program that runs the command in its words.
type wrapper struct {
	operands int      // words of its own that are no options, before the command: timeout DURATION
	after    []string // the command stands after one of these words: find -exec
	shell    bool     // a shell reads the words once more: ssh HOST 'COMMAND'
	text     bool     // an option of it has a command as its value: env -S'COMMAND'; implied by shell
	adds     bool     // more words stand after the command when it runs, or in place of {}
}

var wrappers = map[string]wrapper{
	"sudo": {}, "doas": {}, "pkexec": {}, "exec": {}, "command": {}, "builtin": {}, "nohup": {}, "nice": {}, "ionice": {},
	"time": {}, "stdbuf": {}, "unbuffer": {}, "setsid": {}, "strace": {}, "ltrace": {}, "busybox": {}, "toybox": {},
	"setpriv": {}, "prlimit": {}, "numactl": {}, "unshare": {}, "nsenter": {}, "systemd-run": {}, "coproc": {},
	"timeout": {operands: 1}, "chrt": {operands: 1}, "taskset": {operands: 1}, "chroot": {operands: 1}, "gosu": {operands: 1},

	"env": {text: true}, "su": {shell: true}, "runuser": {shell: true}, "capsh": {shell: true}, "script": {shell: true},
	"watch": {shell: true}, "screen": {shell: true}, "eval": {shell: true},
	"flock": {shell: true, operands: 1}, "ssh": {shell: true, operands: 1}, "tmux": {shell: true, operands: 1},

	"xargs": {adds: true}, "parallel": {adds: true, shell: true}, "entr": {adds: true, shell: true},
	"find": {adds: true, after: []string{"-exec", "-execdir", "-ok", "-okdir"}},
	"fd":   {adds: true, after: []string{"-x", "--exec", "-X", "--exec-batch"}},
}

// shells run a text, a file or what they read.
var shells = []string{"sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "rbash", "fish"}

// wrapped adds the commands that words make run, at any depth of wrappers.
func (r *reader) wrapped(words []Word, redirects []*syntax.Redirect) {
	type candidate struct {
		at   int
		adds bool
	}
	seen, queue := map[candidate]bool{}, []candidate{{}}
	for len(queue) > 0 && r.found.err == nil {
		c := queue[0]
		queue = queue[1:]
		if seen[c] {
			continue
		}
		seen[c] = true
		inner := words[c.at:]
		if c.adds {
			inner = withUnknown(inner, placeholder(words))
		}
		if c.at > 0 && !r.candidate(inner, c.adds) {
			continue
		}
		if !inner[0].Literal {
			continue
		}
		program := path.Base(inner[0].Text)
		if slices.Contains(shells, program) {
			r.script(inner, redirects)
		}
		w, is := wrappers[program]
		switch {
		case !is || program == "command" && len(inner) > 1 && (inner[1].Text == "-v" || inner[1].Text == "-V"):
			continue
		case w.shell:
			r.joined(&w, inner)
			r.optionValues(&w, inner)
		case w.text:
			r.optionValues(&w, inner)
		}
		for _, at := range w.commands(words[c.at:]) {
			queue = append(queue, candidate{c.at + at, c.adds || w.adds})
		}
	}
}

// candidate adds the command that begins with a word of a wrapper, and reports
// whether it may be one of its own. A program whose name has a space in it, or what
// a shell heeds, is a text for a shell.
func (r *reader) candidate(words []Word, more bool) bool {
	program := words[0]
	if program.Literal && heeded(program.Text) {
		r.givenText(program.Text, more)
		return false
	}
	c := Command{Text: strings.Join(texts(words), " "), Words: words, Given: true}
	c.Unclear = r.builtin(words)
	r.found.add(c)
	return true
}

// joined reads the words of a wrapper that gives them to a shell as one text.
func (r *reader) joined(w *wrapper, words []Word) {
	for _, at := range w.commands(words) {
		rest := words[at:]
		if slices.ContainsFunc(rest, isNotLiteral) {
			r.found.add(Command{Text: strings.Join(texts(words), " "), Words: words, Given: true, Unclear: "a shell reads words of it that only show when it runs"})
			continue
		}
		if len(rest) > 1 {
			r.givenText(strings.Join(texts(rest), " "), w.adds)
		}
	}
}

// optionValues reads commands that are the value of an option: env -S'COMMAND',
// script -qc COMMAND.
func (r *reader) optionValues(w *wrapper, words []Word) {
	for i, word := range words {
		_, value, long := strings.Cut(word.Text, "=")
		switch {
		case i == 0 || !word.Literal || !strings.HasPrefix(word.Text, "-"):
		case strings.HasPrefix(word.Text, "--") && long:
			r.givenText(value, w.adds)
		case i+1 < len(words) && (word.Text == "--command" || !strings.HasPrefix(word.Text, "--") && strings.HasSuffix(word.Text, "c")):
			r.candidate(words[i+1:], w.adds)
		case !strings.HasPrefix(word.Text, "--") && len(word.Text) > 2:
			r.givenText(word.Text[2:], w.adds)
		}
	}
}

// placeholder is the text that xargs replaces in the words of a command.
func placeholder(words []Word) string {
	for i, word := range words {
		switch value, is := strings.CutPrefix(word.Text, "-I"); {
		case is && value != "":
			return value
		case is && i+1 < len(words):
			return words[i+1].Text
		case strings.HasPrefix(word.Text, "--replace="):
			return word.Text[len("--replace="):]
		}
	}
	return "{"
}

// maxOptions of a command are looked past.
const maxOptions = 20

var assigns = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^["']?[A-Za-z_][A-Za-z0-9_]*=`) })

// commands returns where in a wrapper's words the command may begin. Whether an
// option takes the next word as its value is not known, so both are there.
func (w *wrapper) commands(words []Word) (places []int) {
	if w.after != nil {
		for i, word := range words[:len(words)-1] {
			if i > 0 && slices.Contains(w.after, word.Text) {
				places = append(places, i+1)
			}
		}
		return places
	}
	type state struct{ at, operands int }
	seen, queue := map[state]bool{}, []state{{1, w.operands}}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		if seen[s] || s.at >= len(words) {
			continue
		}
		seen[s] = true
		word := words[s.at]
		next, afterValue := state{s.at + 1, s.operands}, state{s.at + 2, s.operands}
		switch {
		case word.Text == "--" || assigns().MatchString(word.Text):
			if heeded(word.Text) { // eval 'A=1; rm x'
				places = append(places, s.at)
			}
			queue = append(queue, next)
		case strings.HasPrefix(word.Text, "-") && word.Literal:
			queue = append(queue, next)
			if !strings.Contains(word.Text, "=") {
				queue = append(queue, afterValue)
			}
		case s.operands > 0:
			queue = append(queue, state{s.at + 1, s.operands - 1})
		default:
			places = append(places, s.at)
		}
		if !word.Literal { // it may be an option, or more than one word
			queue = append(queue, next, afterValue)
		}
	}
	slices.Sort(places)
	return slices.Compact(places)
}

// heeded reports whether a text holds something that a shell would heed.
func heeded(text string) bool { return strings.ContainsAny(text, " \t\n;&|<>()$`") }

// script reads what a shell is given to run: a here-document, the text after -c, or
// else a file, or what comes through a pipe.
func (r *reader) script(words []Word, redirects []*syntax.Redirect) {
	unclear := func(why string) {
		r.found.add(Command{Text: strings.Join(texts(words), " "), Words: words, Given: true, Unclear: why})
	}
	const unknown = "the text that a shell runs only shows when it runs"
	text := false
	for i := 1; i < len(words); i++ {
		word := words[i]
		option := len(word.Text) > 1 && (word.Text[0] == '-' || word.Text[0] == '+')
		switch {
		case !word.Literal:
			unclear(unknown)
			return
		case word.Text == "--rcfile" || word.Text == "--init-file":
			i++
		case option && !strings.HasPrefix(word.Text, "--"):
			text = text || word.Text[0] == '-' && strings.Contains(word.Text, "c")
			if strings.ContainsAny(word.Text, "oO") { // -euo pipefail
				i++
			}
			if word.Text[0] == '-' && strings.Contains(word.Text, "s") {
				unclear("a shell runs what it reads")
				return
			}
		case option && strings.HasPrefix(word.Text, "--command="):
			r.givenText(strings.TrimPrefix(word.Text, "--command="), false)
			return
		case option:
		case text:
			r.givenText(word.Text, false)
			return
		case word.Text == "-" || strings.HasPrefix(word.Text, "/dev/") || strings.HasPrefix(word.Text, "/proc/"):
			unclear("a shell runs what it reads")
			return
		default:
			return // a script in a file
		}
	}
	for _, redirect := range redirects {
		switch {
		case redirect.Hdoc != nil:
			r.givenText(r.slice(redirect.Hdoc), false)
			return
		case redirect.Op == syntax.WordHdoc:
			if word := r.word(redirect.Word); word.Literal {
				r.givenText(word.Text, false)
				return
			}
		}
	}
	unclear("a shell runs what it reads")
}
