package shellwords

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// givenReader finds the commands in options of programs that are no shells.
type givenReader struct{ *reader }

// given says how programs that are no shells are given commands: as a word of which the
// expression takes the command, or as the word after one of some options.
type given struct {
	programs string
	word     string
	after    string
}

var givens = []given{
	{"vim vi nvim view ex gvim ed", `^(?:\+|-c|-sc)?:?(?:silent!? )?!\s*(.+)`, ""},
	{"less more most", `^\+!(.+)`, ""},
	{"gdb lldb", `^(?:shell|!|platform shell)\s*(.+)`, ""},
	{"tar bsdtar gtar", `^--(?:to-command|use-compress-program|info-script|new-volume-script|rsh-command)=(.+)`, "-I -F --to-command --use-compress-program --info-script --rsh-command"},
	{"tar bsdtar gtar", `^(?:--checkpoint-action=)?exec=(.+)`, ""},
	{"zip", `^(?:-TT|--unzip-command=?)(.+)`, "-TT --unzip-command"},
	{"rsync", `^(?:--rsh=|--rsync-path=)(.+)`, "-e --rsh --rsync-path"},
	{"ssh scp sftp", `(?i)^(?:-o)?\s*(?:ProxyCommand|LocalCommand|KnownHostsCommand)[= ]\s*(.+)`, "-S"},
	{"psql mysql mariadb mycli pgcli", `\\!\s*(.+)`, ""},
	{"mysql mariadb", `^system\s+(.+)`, ""},
	{"psql", `(?i)\bprogram\s+'([^']+)'`, ""},
	{"sqlite3 duckdb", `^\.(?:shell|system)\s+(.+)`, ""},
	{"socat", `(?i)^(?:exec|system):(.+)`, ""},
	{"man", `^--(?:pager|html)=(.+)`, "-P --pager"},
	{"make gmake", `\$\(shell ([^)]+)\)`, ""},
	{"make gmake", `^(?:\.?SHELL|CC|CXX|LD|AR)=(.+)`, ""},
	{"sed gsed", `(?:^|[;{]\s*|[0-9$/]\s*)e\s+(.+)`, ""},
	{"npm pnpm yarn", `^scripts\.[^=]+=(.+)`, "script-shell --script-shell -c --call"},
	{"nix-shell nix", "", "--run --command"},
	{"vagrant", "", "-c --command"},
	{"npx", "", "-c --call"},
	{"tcpdump", "", "-z"},
	{"wget", `^--use-askpass=(.+)`, ""},
	{"ansible", "", "-a --args"},
	{"gh glab", `^!(.+)`, ""},
	{"nvim vim", `os\.execute\(['"](.+)['"]\)`, ""},
	{"vim nvim", `system\(['"](.+)['"]\)`, ""},
}

// givensOf is givens by program.
var givensOf = sync.OnceValue(func() map[string][]givenWord {
	all := map[string][]givenWord{}
	for _, g := range givens {
		w := givenWord{after: strings.Fields(g.after)}
		if g.word != "" {
			w.word = regexp.MustCompile(`(?s)` + g.word)
		}
		for _, program := range strings.Fields(g.programs) {
			all[program] = append(all[program], w)
		}
	}
	return all
})

type givenWord struct {
	word  *regexp.Regexp
	after []string
}

// sedRuns is the flag e of sed's s, by which it runs what it made.
var sedRuns = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`s([/|,#])[^\n]*/[gpiIm0-9]*e[gpiIm0-9]*($|[;}\s])`) })

// givenByWords reads the commands that the words of a program give to it.
func (r givenReader) givenByWords(program string, words []Word) {
	for _, g := range givensOf()[program] {
		for i, word := range words[1:] {
			if !word.Literal {
				continue
			}
			if slices.Contains(g.after, word.Text) && i+2 < len(words) && words[i+2].Literal {
				coder(r).guessedText(words, words[i+2].Text)
			}
			if g.word == nil {
				continue
			}
			r.givenIn(words, g.word, word.Text)
		}
		if r.in != nil && g.word != nil {
			for line := range strings.Lines(r.in.text) {
				r.givenIn(words, g.word, strings.Trim(line, " \n'\""))
			}
		}
	}
	switch program {
	case "sed", "gsed":
		if slices.ContainsFunc(words[1:], func(w Word) bool { return sedRuns().MatchString(w.Text) }) {
			coder(r).doubt(words, "sed runs what it makes of a line")
		}
	case "make", "gmake":
		for i, word := range words[1:] {
			if strings.HasPrefix(word.Text, "--eval") || word.Text == "-f" && i+2 < len(words) && (words[i+2].Text == "-" || strings.HasPrefix(words[i+2].Text, "<(")) {
				coder(r).doubt(words, "make runs what it reads")
			}
		}
	}
}

// givenIn reads the commands that an expression finds in a text.
func (r givenReader) givenIn(words []Word, word *regexp.Regexp, text string) {
	for _, m := range word.FindAllStringSubmatch(text, -1) {
		coder(r).guessedText(words, m[1])
	}
}

// runVariables are variables whose value programs run.
var runVariables = []string{
	"PAGER", "MANPAGER", "EDITOR", "VISUAL", "FCEDIT", "BROWSER", "SYSTEMD_PAGER", "LESSOPEN", "LESSCLOSE", "RSYNC_RSH", "SSH_ASKPASS", "SUDO_ASKPASS", "PSQL_PAGER", "PSQL_EDITOR",
	"GIT_PAGER", "GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_ASKPASS", "GIT_PROXY_COMMAND", "GH_PAGER", "GH_EDITOR",
}

// givenBySets reads the commands in variables that programs run.
func (r givenReader) givenBySets(sets []Word) {
	for _, set := range sets {
		name, value, is := strings.Cut(set.Text, "=")
		switch {
		case !is:
		case strings.HasPrefix(name, "GIT_CONFIG_") && name != "GIT_CONFIG_GLOBAL" && name != "GIT_CONFIG_SYSTEM" && name != "GIT_CONFIG_NOSYSTEM":
			r.found.add(Command{Text: set.Text, Words: []Word{set}, Given: true, Unclear: "it gives git settings, which may be commands"})
		case strings.HasPrefix(name, "BASH_FUNC_"):
			r.found.add(Command{Text: set.Text, Words: []Word{set}, Given: true, Unclear: runsText})
		case slices.Contains(runVariables, name) && value != "":
			if !set.Literal {
				value = strings.Trim(value, `"`)
			}
			coder(r).guessedText([]Word{set}, value)
		}
	}
}

// splitString reads the value of env's option -S, which env splits into words by rules
// of its own: without a variable or an escape they are the shell's.
func (r wrapping) splitString(words []Word) {
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

// folderOptions are options of programs whose value is the folder that they work in, by the
// program. Of chroot it is an operand.
var folderOptions = []struct{ programs, options string }{
	{"env", "-C --chdir"}, {"sudo", "-D --chdir"}, {"git", "-C"}, {"make gmake ninja", "-C --directory"}, {"tar bsdtar gtar", "-C --directory --cd"},
	{"systemd-run", "-p --property --working-directory"}, {"start-stop-daemon", "-d --chdir"}, {"nsenter", "-w --wd --wdns"}, {"unshare", "-w --wd"},
	{"bwrap", "--chdir"}, {"flatpak-spawn", "--directory"}, {"proot", "-w --pwd --cwd"}, {"pnpm", "-C --dir"}, {"yarn", "--cwd"}, {"npm", "-C --prefix"},
	{"uv", "--directory"}, {"poetry mise", "-C --directory --cd"}, {"parallel", "--wd --workdir"}, {"fd fdfind", "--base-directory"},
	{"docker podman nerdctl docker-compose kubectl", "-w --workdir"}, {"cmake", "chdir"}, {"chroot", ""},
}

// folderOptionsOf is folderOptions by program.
var folderOptionsOf = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for _, row := range folderOptions {
		for _, program := range strings.Fields(row.programs) {
			all[program] = strings.Fields(row.options)
		}
	}
	return all
})

// worksIn returns the folders in which a program may work by the options among its words.
// What looks like such an option may be the value of another, so each may count or not.
func worksIn(words []Word) (all []string) {
	all = []string{""}
	options, is := folderOptionsOf()[programName(words[0])]
	for i := 1; is && i < len(words) && len(all) <= maxPlaces; i++ {
		for _, value := range folderValues(words, i, options) {
			seen := place{}.seen(Word{Text: strings.TrimPrefix(value.Text, "WorkingDirectory="), Literal: value.Literal})
			all = union(all, fromEach(all, []string{seen}))
		}
	}
	return all
}

// folderValues returns the folders that the word at a place, and perhaps the next, may name.
func folderValues(words []Word, at int, options []string) (values []Word) {
	word := words[at]
	if len(options) == 0 && !strings.HasPrefix(word.Text, "-") {
		return []Word{word}
	}
	for _, option := range options {
		value, is := "", word.Text == option
		if long, after, glued := strings.Cut(word.Text, "="); strings.HasPrefix(option, "--") {
			value, is = after, (long == option || len(long) > 4 && strings.HasPrefix(option, long))
			is = is && (!glued || after != "")
		} else if letters, after, has := strings.Cut(word.Text, option[1:]); has && option[0] == '-' && strings.HasPrefix(letters, "-") && !strings.HasPrefix(letters, "--") {
			value, is = after, true // -iC/
		}
		switch {
		case is && value != "":
			values = append(values, Word{Text: value, Literal: word.Literal})
		case is && at+1 < len(words):
			values = append(values, words[at+1])
		}
	}
	return values
}
