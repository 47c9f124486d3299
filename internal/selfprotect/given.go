package selfprotect

import (
	"encoding/base64"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/hookd-dev/hookd/internal/shellwords"
	"github.com/hookd-dev/hookd/internal/table"
)

// runLater are programs that run a text that they read, now or at another time.
const runLater table.Words = "at batch crontab"

// typists are programs of which a word is typed into, or run by, another shell.
const typists table.Words = "tmux screen expect xdotool ydotool wtype dc bc gdb lldb docker podman nerdctl kubectl oc lxc incus machinectl ssh mosh vagrant npm pnpm yarn make gmake just task hyperfine watchexec nodemon concurrently entr parallel"

// judgeTexts judges the texts that a command has run as shell lines: by a shell that reads them
// from a pipe, by trap and alias, at another time, in the next shell of the person.
func judgeTexts(j *shellLine, c *shellwords.Command, input string) {
	name := ""
	if len(c.Words) > 0 {
		name = programName(c.Words[0].Text)
	}
	switch {
	case name == "trap" && len(c.Words) > 1:
		j.nested(c.Words[1])
	case name == "alias":
		for _, word := range c.Words[1:] {
			if _, value, is := strings.Cut(word.Text, "="); is {
				j.nested(shellwords.Word{Text: value, Literal: word.Literal})
			}
		}
	case (name == "make" || name == "gmake" || name == "just") && c.From+input != "":
		for line := range strings.Lines(strings.Join(append(j.printed(c.From), input), "\n")) {
			j.nestedText(strings.TrimLeft(line, "\t@-+"))
		}
	case runLater.Has(name):
		for line := range strings.Lines(strings.Join(append(j.printed(c.From), input), "\n")) {
			j.nestedText(withoutTime(line))
		}
	case c.Unclear != "":
		for _, text := range append(j.printed(c.From), input) {
			j.nestedText(text)
		}
		judgeDecoded(j, c)
	}
	for _, set := range c.Sets {
		if variable, value, is := strings.Cut(set.Text, "="); is && slices.Contains([]string{"PROMPT_COMMAND", "BASH_ENV", "ENV", "PS4"}, variable) {
			j.nested(shellwords.Word{Text: value, Literal: set.Literal})
		}
	}
	judgeStartUp(j, c, input)
}

// nested judges a word that is a shell line.
func (j *shellLine) nested(word shellwords.Word) {
	if word.Literal {
		j.nestedText(word.Text)
		return
	}
	for _, text := range j.expander.word(word) {
		if !strings.Contains(text, unknown) {
			j.nestedText(unescape(text, ""))
		}
	}
}

// nestedText judges a shell line in a line.
func (j *shellLine) nestedText(text string) {
	if strings.TrimSpace(text) != "" {
		j.line(text)
	}
}

// printed returns the texts that commands print whose words are known: echo, printf, cat
// with a here-document.
func (j *shellLine) printed(commands string) (printed []string) {
	if commands == "" {
		return nil
	}
	line := shellwords.Split(commands)
	for i := range line.Commands {
		c := &line.Commands[i]
		if c.Input != "" {
			printed = append(printed, j.inputText(c.Input))
		}
		if len(c.Words) < 2 {
			continue
		}
		words := c.Words[1:]
		switch programName(c.Words[0].Text) {
		case "printf":
			if strings.Contains(words[0].Text, "%") && len(words) > 1 {
				words = words[1:]
			}
		case "echo":
			for len(words) > 1 && strings.HasPrefix(words[0].Text, "-") {
				words = words[1:]
			}
		default:
			continue
		}
		var text []string
		for _, word := range words {
			text = append(text, strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\0`, "\n").Replace(j.plain(word)))
		}
		printed = append(printed, strings.Join(text, " "))
	}
	return printed
}

// plain returns the first text that a word stands for.
func (j *shellLine) plain(word shellwords.Word) string {
	if word.Literal {
		return word.Text
	}
	return unescape(j.expander.word(word)[0], "")
}

// inputText is what a command reads from its here-documents and here-strings: of one word
// without its quotes.
func (j *shellLine) inputText(input string) string {
	if input == "" || strings.IndexByte(`'"$`, input[0]) < 0 {
		return input
	}
	texts := j.expander.raw(input, 0)
	if len(texts) == 0 || strings.Contains(texts[0], unknown) {
		return input
	}
	return unescape(texts[0], "")
}

var (
	decoders = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\bbase(64|32)\s+(-\w*[dD]|--decode)|\bxxd\s+(-\w+\s+)*-\w*r|\bopenssl\s+(enc|base64)\b.*-d|\b(uudecode|rev)\b|\|\s*tr\s`)
	})
	encoded = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[A-Za-z0-9+/_-]{8,}={0,2}`) })
)

// judgeDecoded judges a text that is decoded and run. One that cannot be decoded here is in
// doubt: nothing but hiding it is a reason to write it so.
func judgeDecoded(j *shellLine, c *shellwords.Command) {
	if !decoders().MatchString(c.From) {
		return
	}
	before := len(j.found)
	known := false
	for _, run := range encoded().FindAllString(c.From, -1) {
		if text, err := base64.StdEncoding.DecodeString(run); err == nil {
			known = true
			j.nestedText(string(text))
		}
		if text, err := hex.DecodeString(run); err == nil {
			known = true
			j.nestedText(string(text))
		}
	}
	if !known && len(j.found) == before {
		j.doubt("%s runs a text that is decoded first", quoted(c.Text))
	}
}

// withoutTime returns the command of a line of crontab.
func withoutTime(line string) string {
	fields := strings.Fields(line)
	switch {
	case len(fields) > 1 && strings.HasPrefix(fields[0], "@"):
		return strings.Join(fields[1:], " ")
	case len(fields) > 5 && strings.Trim(strings.Join(fields[:5], ""), "0123456789*/,-") == "":
		return strings.Join(fields[5:], " ")
	}
	return line
}

// startFiles are the names of files that a shell, or the system, runs at its start.
const startFiles table.Words = ".bashrc .bash_profile .bash_login .bash_aliases .bash_logout .profile .zshrc .zshenv .zprofile .zlogin .kshrc .mkshrc .cshrc .tcshrc .login config.fish .envrc .xprofile .xinitrc .xsessionrc .pam_environment environment crontab .inputrc profile bash.bashrc zshenv zshrc"

// isStartFile reports whether what is written to a file is run later without anybody
// asking for it.
func isStartFile(file string) bool {
	file = strings.ReplaceAll(file, `\`, "/")
	base := file[strings.LastIndex(file, "/")+1:]
	switch base {
	case "environment", "crontab", "profile", "bash.bashrc", "zshenv", "zshrc":
		return strings.HasPrefix(file, "/etc/")
	}
	if startFiles.Has(base) {
		return true
	}
	return slices.ContainsFunc([]string{"/etc/profile.d/", "/etc/cron", "/var/spool/cron/", ".config/systemd/user/", "/etc/systemd/", ".config/autostart/", "Library/LaunchAgents/", "fish/conf.d/", "environment.d/"}, func(part string) bool {
		return strings.Contains(file, part)
	})
}

// judgeStartUp judges what a command writes into a file that the next shell runs.
func judgeStartUp(j *shellLine, c *shellwords.Command, input string) {
	files := make([]shellwords.Word, 0, len(c.Writes))
	for _, write := range c.Writes {
		files = append(files, write.Target)
	}
	if len(c.Words) > 1 && programName(c.Words[0].Text) == "tee" {
		files = append(files, c.Words[1:]...)
	}
	if !slices.ContainsFunc(files, func(w shellwords.Word) bool { return isStartFile(strings.Trim(w.Text, `"'`)) }) {
		return
	}
	for _, text := range append(j.printed(c.Text+"\n"+c.From), input) {
		j.nestedText(text)
	}
}

// keepArguments keeps what $0, $1 and $@ stand for in a text that a shell is given with
// words after it, and in functions, and the values that env gives variables.
func keepArguments(j *shellLine, line *shellwords.Line) {
	for i := range line.Commands {
		words := line.Commands[i].Words
		if len(words) < 2 || len(line.Values) > maxValues {
			continue
		}
		switch name := programName(words[0].Text); {
		case name == "env" || name == "sudo" || name == "doas":
			for _, word := range words[1:] {
				if name, value, is := strings.Cut(word.Text, "="); is && word.Literal && !strings.HasPrefix(name, "-") {
					line.Values[name] = append(line.Values[name], shellwords.Word{Text: value, Literal: true})
				}
			}
		case !strings.Contains(line.Text, "$"):
		case shells.Has(name):
			for at := 1; at+1 < len(words); at++ {
				if text := words[at].Text; strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "--") && strings.HasSuffix(text, "c") {
					arguments(line, words[min(at+2, len(words)):], 0)
					break
				}
			}
		case name == "set" && words[1].Text == "--":
			arguments(line, words[2:], 1)
		case !readers.Has(name) && programs.of(name) == (program{}) && !interpreters.of(name).is:
			arguments(line, words[1:], 1)
		}
	}
}

// maxValues are variables of a line that are kept.
const maxValues = 200

// shells are the programs that run a text after -c.
const shells table.Words = "sh bash dash ash zsh ksh mksh fish busybox"

// arguments are words that a script has as $0 or $1 and so on.
func arguments(line *shellwords.Line, words []shellwords.Word, first int) {
	for i, word := range words[:min(len(words), 10)] {
		name := string(rune('0' + min(i+first, 9)))
		line.Values[name] = append(line.Values[name], word)
		for _, all := range []string{"@", "*"} {
			if len(line.Values[all]) < maxValues {
				line.Values[all] = append(line.Values[all], word)
			}
		}
	}
}

// judgeWithin judges the commands that may be in the words of a program that is in no table:
// after a program that runs another, and in texts that could be lines. Of a program that
// is known to run them they are sure.
func judgeWithin(j *shellLine, c *shellwords.Command, name string) {
	judge := func() {
		for i, word := range c.Words[1:] {
			if !word.Literal {
				continue
			}
			if strings.ContainsAny(word.Text, " \n") {
				text := strings.TrimLeft(word.Text, "!")
				if name == "cmd" {
					text = strings.ReplaceAll(text, `\`, "/")
				}
				for _, verb := range []string{"shell ", "spawn ", "exec ", "stuff "} {
					text = strings.TrimPrefix(text, verb)
				}
				j.nestedText(text)
			} else if isKnown(programName(word.Text)) {
				j.nestedText(outsideOf(j, name, c.Words[1:i+1], lineOf(c.Words[i+1:])))
				return
			}
		}
	}
	if typists.Has(name) || runners.Has(name) {
		judge()
		return
	}
	j.inDoubt(judge)
}

// outsideOf returns a line that runs in a container with the paths of its mounts as they are
// outside of it.
func outsideOf(j *shellLine, name string, options []shellwords.Word, line string) string {
	if name != "docker" && name != "podman" && name != "nerdctl" {
		return line
	}
	for _, mount := range valuesOf(options, []string{"-v", "--volume"}) {
		if from, to, is := strings.Cut(j.plain(mount), ":"); is && len(to) > 1 {
			to, _, _ = strings.Cut(to, ":")
			line = strings.ReplaceAll(line, strings.TrimSuffix(to, "/")+"/", strings.TrimSuffix(from, "/")+"/")
		}
	}
	return line
}

// lineOf writes words as a shell line.
func lineOf(words []shellwords.Word) string {
	texts := make([]string, len(words))
	for i, word := range words {
		if texts[i] = word.Text; word.Literal {
			texts[i] = quotedWord(word.Text)
		}
	}
	return strings.Join(texts, " ")
}

func quotedWord(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// runners are programs that run the command in their words.
const runners table.Words = "uv poetry pipenv bundle rye pdm hatch conda mamba micromamba nix direnv dotenv op doppler aws-vault devbox flox go cargo dotnet mise asdf rbenv pyenv nvm fnm volta turbo nx lerna cmd cmd.exe wsl winpty at-spi systemd-nspawn distrobox toolbox flatpak snap cross"

// isKnown reports whether a word is the name of a program that the guard judges.
func isKnown(name string) bool {
	if p, writes := programs.get(name); writes {
		return p.all != mentions || p.last != mentions
	}
	return name == "hookd" || interpreters.of(name).is || shells.Has(name) || ends.Has(name) || isAgent(name)
}
