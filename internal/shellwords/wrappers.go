package shellwords

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"github.com/hookd-dev/hookd/internal/table"
)

// wrapper is a program that runs the command in its words.
type wrapper struct {
	operands int      // words of its own that are no options, before the command: timeout DURATION
	after    []string // the command stands after one of these words: find -exec
	shell    bool     // a shell reads the words once more: ssh HOST 'COMMAND'
	text     bool     // an option of it has a command as its value: env -S'COMMAND'; implied by shell
	adds     bool     // more words stand after the command when it runs, or in place of {}
}

// plainWrappers run the command that their operands are.
const plainWrappers table.Words = "sudo doas pkexec exec command builtin nohup nice ionice time stdbuf unbuffer setsid strace ltrace busybox toybox setpriv " +
	"prlimit numactl unshare nsenter systemd-run coproc setarch linux32 linux64 i386 x86_64 arch uname26 choom uclampset " +
	"coresched runcon ssh-agent dbus-run-session xvfb-run fakeroot eatmydata firejail bwrap proot valgrind perf rlwrap tini " +
	"dumb-init catatonit torsocks proxychains proxychains4 caffeinate systemd-inhibit systemd-cat flatpak-spawn chronic ifne " +
	"nocache cpulimit start-stop-daemon chpst softlimit " +
	"-- - noglob nocorrect and or not begin " + // time -p -- COMMAND, and words of other shells
	loaderOfPrograms

// wrappers are those of which more is to be known.
var wrappers = []struct {
	name string
	wrapper
}{
	{"su-exec", wrapper{operands: 1}}, {"setuidgid", wrapper{operands: 1}}, {"envdir", wrapper{operands: 1}}, {"setlock", wrapper{operands: 1}},
	{"faketime", wrapper{operands: 1}}, {"logsave", wrapper{operands: 1}}, {"timeout", wrapper{operands: 1}}, {"chrt", wrapper{operands: 1}},
	{"taskset", wrapper{operands: 1}}, {"chroot", wrapper{operands: 1}}, {"gosu", wrapper{operands: 1}}, {"env", wrapper{text: true}},
	{"su", wrapper{shell: true}}, {"runuser", wrapper{shell: true}}, {"capsh", wrapper{shell: true}}, {"script", wrapper{shell: true}},
	{"watch", wrapper{shell: true}}, {"screen", wrapper{shell: true}}, {"eval", wrapper{shell: true}}, {"hyperfine", wrapper{shell: true}},
	{"sg", wrapper{shell: true, operands: 1}}, {"flock", wrapper{shell: true, operands: 1}}, {"ssh", wrapper{shell: true, operands: 1}},
	{"tmux", wrapper{shell: true, operands: 1}}, {"xargs", wrapper{adds: true}}, {"parallel", wrapper{adds: true, shell: true}},
	{"entr", wrapper{adds: true, shell: true}}, {"find", wrapper{adds: true, after: []string{"-exec", "-execdir", "-ok", "-okdir"}}},
	{"fd", wrapper{adds: true, after: []string{"-x", "--exec", "-X", "--exec-batch"}}},
	{"fdfind", wrapper{adds: true, after: []string{"-x", "--exec", "-X", "--exec-batch"}}},
}

func wrapperOf(program string) (w wrapper, is bool) {
	if plainWrappers.Has(program) {
		return wrapper{}, true
	}
	for i := range wrappers {
		if wrappers[i].name == program {
			return wrappers[i].wrapper, true
		}
	}
	return wrapper{}, false
}

// loaderOfPrograms stands for ld-linux-x86-64.so.2 and its like.
const loaderOfPrograms = "ld.so"

// programName is the name by which wrappers and shells are known.
func programName(word Word) string {
	name := path.Base(word.Text)
	if strings.HasPrefix(name, "ld-linux") || strings.HasPrefix(name, "ld-musl") {
		return loaderOfPrograms
	}
	return name
}

// shells run a text, a file or what they read. Those of foreign speak a language that
// is not bash's.
var (
	shells  = []string{"sh", "bash", "dash", "ash", "zsh", "ksh", "ksh93", "mksh", "rbash", "yash", "posh", "osh", "csh", "tcsh", "fish", "elvish", "nu", "pwsh", "xonsh"}
	foreign = []string{"zsh", "osh", "csh", "tcsh", "fish", "elvish", "nu", "pwsh", "xonsh"}
)

// plain is a text that every shell reads the same way.
var plain = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_./ -][A-Za-z0-9_./ =:,@+-]*$`) })

// wrapped adds the commands that words make run, at any depth of wrappers.
func (r *reader) wrapped(words []Word, redirects []*syntax.Redirect) {
	type candidate struct {
		at   int
		adds bool
		puts bool // its words are replaced
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
			inner = withUnknown(inner, c.puts)
		}
		if c.at > 0 && !r.candidate(inner, c.adds) {
			continue
		}
		if !inner[0].Literal {
			continue
		}
		program := programName(inner[0])
		if slices.Contains(shells, program) {
			r.script(inner, redirects)
		}
		w, is := wrapperOf(program)
		switch {
		case !is || program == "command" && len(inner) > 1 && (inner[1].Text == "-v" || inner[1].Text == "-V"):
			continue
		case w.shell:
			r.joined(&w, inner)
			r.optionValues(&w, inner)
		case w.text:
			r.splitString(inner)
		}
		for _, at := range w.commands(inner) {
			queue = append(queue, candidate{c.at + at, c.adds || w.adds, c.puts || replaces(inner)})
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

// splitString reads the value of env's option -S, which env splits into words by rules
// of its own: without a variable or an escape they are the shell's.
func (r *reader) splitString(words []Word) {
	for i, word := range words[1:] {
		value, glued := "", false
		switch name, after, long := strings.Cut(word.Text, "="); {
		case !word.Literal || len(word.Text) < 2 || word.Text[0] != '-':
			continue
		case len(name) > 2 && strings.HasPrefix("--split-string", name):
			value, glued = after, long
		case strings.HasPrefix(word.Text, "--"):
			continue
		default:
			_, after, is := strings.Cut(word.Text, "S")
			if !is {
				continue
			}
			value, glued = after, after != ""
		}
		rest := words[i+2:]
		if !glued {
			if len(rest) == 0 {
				continue
			}
			if !rest[0].Literal {
				r.found.add(Command{Text: strings.Join(texts(words), " "), Words: words, Given: true, Unclear: "env splits a text that only shows when it runs"})
				continue
			}
			value, rest = rest[0].Text, rest[1:]
		}
		if strings.ContainsAny(value, `\$#`) {
			r.found.add(Command{Text: strings.Join(texts(words), " "), Words: words, Given: true, Unclear: "env splits a text by rules of its own"})
		}
		r.givenText(value, len(rest) > 0)
	}
}

// optionValues reads commands that are the value of an option: script -qc COMMAND.
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

// replaces reports whether xargs puts what it reads in the place of a part of the words,
// so that none of them is known: -I%, -0i, --replace.
func replaces(words []Word) bool {
	return programName(words[0]) == "xargs" && slices.ContainsFunc(words[1:], func(w Word) bool {
		switch {
		case !w.Literal:
			return true
		case strings.HasPrefix(w.Text, "--"):
			return strings.HasPrefix(w.Text, "--r")
		}
		return strings.HasPrefix(w.Text, "-") && strings.ContainsAny(w.Text, "Ii")
	})
}

// maxOptions of a command are looked past.
const maxOptions = 20

var assigns = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^["']?[A-Za-z_][A-Za-z0-9_]*=`) })

// commands returns where in a wrapper's words the command may begin. Whether an
// option takes the next word as its value is not known, so both are there.
func (w *wrapper) commands(words []Word) (places []int) {
	if w.after != nil {
		for i, word := range words[:len(words)-1] {
			next := words[i+1]
			switch {
			case i == 0:
			case slices.Contains(w.after, word.Text),
				!word.Literal && !(next.Literal && strings.HasPrefix(next.Text, "-")): // it may be one of them
				places = append(places, i+1)
			case !word.Literal && !strings.HasPrefix(word.Text, `"`): // or that and the command
				places = append(places, i)
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
func heeded(text string) bool {
	return text != "[" && strings.ContainsAny(text, " \t\n;&|<>()$`'\"\\*?[{")
}

// script reads what a shell is given to run: a here-document, the text after -c, or
// else a file, or what comes through a pipe.
func (r *reader) script(words []Word, redirects []*syntax.Redirect) {
	unclear := func(why string) {
		r.found.add(Command{Text: strings.Join(texts(words), " "), Words: words, Given: true, Unclear: why})
	}
	const unknown = "the text that a shell runs only shows when it runs"
	given := func(text string) {
		if slices.Contains(foreign, programName(words[0])) && !plain().MatchString(text) {
			unclear("it is a text in the language of another shell")
		}
		r.givenText(text, false)
	}
	text := false
	for i := 1; i < len(words); i++ {
		word := words[i]
		option := len(word.Text) > 1 && (word.Text[0] == '-' || word.Text[0] == '+')
		switch {
		case word.Text == ";": // the end of what find is to run
		case !word.Literal:
			unclear(unknown)
			return
		case (word.Text == "--rcfile" || word.Text == "--init-file") && i+1 < len(words):
			if i++; isDevice(words[i]) {
				unclear("a shell runs what it reads")
			}
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
			given(strings.TrimPrefix(word.Text, "--command="))
			return
		case option:
		case text:
			given(word.Text)
			return
		case word.Text == "-" || isDevice(word):
			unclear("a shell runs what it reads")
			return
		default:
			return // a script in a file
		}
	}
	if text, literal := r.input(redirects); literal {
		given(text)
		return
	}
	unclear("a shell runs what it reads")
}

// isDevice reports whether the file that a word names may be no script but what comes
// through a pipe. Also dev/fd/3 is one, in the right folder.
func isDevice(word Word) bool {
	base := path.Base(word.Text)
	atHome := strings.HasPrefix(word.Text, "~/") && plain().MatchString(word.Text[1:])
	return !word.Literal && !atHome || strings.HasPrefix(word.Text, "/dev/") || strings.HasPrefix(word.Text, "/proc/") || base == "stdin" || strings.Trim(base, "0123456789") == ""
}

// input returns the text that a command reads, and whether it is known: it has one
// source of input, which is a literal here-document.
func (r *reader) input(redirects []*syntax.Redirect) (text string, literal bool) {
	var from []*syntax.Redirect
	for _, redirect := range redirects {
		reads := slices.Contains([]syntax.RedirOperator{syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc, syntax.RdrIn, syntax.DplIn, syntax.RdrInOut}, redirect.Op)
		if redirect.N == nil && reads || redirect.N != nil && strings.Trim(redirect.N.Value, "0") == "" {
			from = append(from, redirect)
		}
	}
	switch {
	case len(from) != 1:
		return "", false
	case from[0].Op == syntax.WordHdoc:
		return unquoted(from[0].Word.Parts, false)
	case from[0].Hdoc == nil:
		return "", false
	case slices.ContainsFunc(from[0].Word.Parts, func(part syntax.WordPart) bool {
		lit, is := part.(*syntax.Lit)
		return !is || strings.Contains(lit.Value, `\`)
	}): // its end is quoted, and so is the text
		return r.slice(from[0].Hdoc), true
	}
	if text = from[0].Hdoc.Lit(); text == "" { // it is empty, or something is put in
		return "", false
	}
	return unescape(text, "$`\\\n"), true
}
