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

// wrapping finds the commands in the words of others.
type wrapping struct{ *reader }

// wrapper is a program that runs the command in its words.
type wrapper struct {
	operands int      // words of its own that are no options, before the command: timeout DURATION
	after    []string // the command stands after one of these words: find -exec
	verbs    []string // so it does, with options and operands in between: docker exec NAME COMMAND
	shell    bool     // a shell reads the words once more: ssh HOST 'COMMAND'
	text     bool     // an option of it has a command as its value: env -S'COMMAND'; implied by shell
	adds     bool     // more words stand after the command when it runs, or in place of {}
}

// plainWrappers run the command that their operands are.
const plainWrappers table.Words = "sudo doas pkexec exec command builtin nohup nice ionice time stdbuf unbuffer setsid strace ltrace busybox toybox setpriv " +
	"prlimit numactl unshare nsenter systemd-run coproc setarch linux32 linux64 i386 x86_64 arch uname26 choom uclampset " +
	"coresched runcon ssh-agent dbus-run-session xvfb-run fakeroot eatmydata firejail bwrap proot valgrind rlwrap tini " +
	"dumb-init catatonit torsocks proxychains proxychains4 caffeinate systemd-inhibit systemd-cat flatpak-spawn chronic ifne " +
	"nocache cpulimit start-stop-daemon chpst softlimit sshpass wsl npx bunx pnpx uvx " +
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
	{"perf", wrapper{verbs: []string{"stat", "record", "trace"}}}, {"machinectl", wrapper{verbs: []string{"shell"}, operands: 1}},
	{"cmake", wrapper{verbs: []string{"chdir"}, operands: 1}},
	{"npm", wrapper{verbs: []string{"exec", "x"}}}, {"pnpm", wrapper{verbs: []string{"exec", "dlx"}}}, {"yarn", wrapper{verbs: []string{"exec", "dlx"}}},
}

// After the word run or exec of these a command stands, of the second list after one operand.
const (
	runsCommand  table.Words = "uv poetry pipenv pdm hatch rye conda op doppler devbox heroku bundle mise asdf rbenv pyenv"
	runsInPlaces table.Words = "direnv nix aws-vault docker podman nerdctl docker-compose kubectl oc lxc"
)

// run are the words of programs after which a command stands.
var run = []string{"run", "exec", "x"}

func wrapperOf(program string) (w wrapper, is bool) {
	if plainWrappers.Has(program) {
		return wrapper{}, true
	}
	for i := range wrappers {
		if wrappers[i].name == program {
			return wrappers[i].wrapper, true
		}
	}
	if runsInPlaces.Has(program) {
		return wrapper{verbs: run, operands: 1}, true
	}
	if runsCommand.Has(program) {
		return wrapper{verbs: run}, true
	}
	return wrapper{}, false
}

// loaderOfPrograms stands for ld-linux-x86-64.so.2 and its like.
const loaderOfPrograms = "ld.so"

// programName is the name by which wrappers and shells are known.
func programName(word Word) string {
	name := path.Base(word.Text)
	if word.base() != "" {
		name = word.base()
	}
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
func (r wrapping) wrapped(words []Word, redirects []*syntax.Redirect) {
	type candidate struct {
		at   int
		adds bool
		puts bool // its words are replaced

		folder string // in which it runs
	}
	if len(words) == 0 {
		return
	}
	here := r.found.here
	defer func() { r.found.here = here }()
	seen, queue := map[candidate]bool{}, []candidate{{}}
	for len(queue) > 0 && r.found.err == nil {
		c := queue[0]
		queue = queue[1:]
		if seen[c] {
			continue
		}
		seen[c] = true
		r.found.here = fromEach(here, []string{c.folder})
		inner := words[c.at:]
		if c.adds {
			inner = withUnknown(inner, c.puts)
			r.foundBy(words, inner)
		}
		if c.at > 0 && !r.candidate(inner, c.adds) {
			continue
		}
		if !inner[0].named() {
			continue
		}
		program := programName(inner[0])
		files(r).runsFile(inner)
		if l, is := languageOf(program); is {
			coder(r).interpreter(inner, l, r.in)
		}
		r.found.here = fromEach(r.found.here, worksIn(inner))
		givenReader(r).givenByWords(program, inner)
		r.found.here = fromEach(here, []string{c.folder})
		if program == "env" || program == "sudo" || program == "export" {
			givenReader(r).givenBySets(inner[1:])
		}
		switch {
		case isShell(program):
			r.script(inner, redirects)
		case r.in != nil && (program == "at" || program == "batch" || program == "ssh" && len(sshCommand.commands(inner)) == 0):
			r.readsCommands(inner)
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
			for _, folder := range worksIn(inner[:at]) {
				queue = append(queue, candidate{c.at + at, c.adds || w.adds, c.puts || replaces(inner), joined(c.folder, folder)})
			}
		}
	}
}

// candidate adds the command that begins with a word of a wrapper, and reports
// whether it may be one of its own. A program whose name has a space in it, or what
// a shell heeds, is a text for a shell.
func (r wrapping) candidate(words []Word, more bool) bool {
	program := words[0]
	if program.Literal && heeded(program.Text) {
		r.givenText(program.Text, more)
		return false
	}
	c := Command{Text: strings.Join(texts(words), " "), Words: words, Given: true}
	c.Unclear = doubts(r).builtin(words)
	c.later, r.later = r.later, false
	r.found.add(c)
	return true
}

// joined reads the words of a wrapper that gives them to a shell as one text.
func (r wrapping) joined(w *wrapper, words []Word) {
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

// optionValues reads commands that are the value of an option: script -qc COMMAND.
func (r wrapping) optionValues(w *wrapper, words []Word) {
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

// sshCommand finds the command after the host.
var sshCommand = wrapper{operands: 1}

// readsCommands reads what a program runs that reads commands.
func (r wrapping) readsCommands(words []Word) {
	if r.in.known {
		r.givenText(r.in.text, false)
		return
	}
	coder(r).doubt(words, "it runs what it reads")
}

// isShell reports whether a program is a shell.
func isShell(program string) bool { return slices.Contains(shells, program) }

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
	if w.verbs != nil {
		queue = nil
		for i, word := range words[1:] {
			if word.Literal && slices.Contains(w.verbs, word.Text) {
				queue = append(queue, state{i + 2, w.operands})
			}
		}
	}
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
func (r wrapping) script(words []Word, redirects []*syntax.Redirect) {
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
	if text, literal := (inputs(r)).input(redirects); literal {
		given(text)
		return
	}
	if r.in != nil && r.in.known && !strings.Contains(r.in.text, `\`) {
		given(r.in.text)
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
