package selfprotect

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/hookd-dev/hookd/internal/shellwords"
	"github.com/hookd-dev/hookd/internal/table"
)

// special returns the rules of a program that has rules of its own, nil for another one.
func special(program string) func(j *shellLine, c *shellwords.Command, input string) {
	switch program {
	case "tar", "gtar", "bsdtar":
		return judgeTar
	case "unzip", "unrar", "unar", "cpio", "jar", "ar", "7z", "7za", "7zz", "7zr":
		return judgeUnpack
	case "zip":
		return judgeZip
	case "cp", "gcp", "ln", "mv", "install":
		return judgeCopy
	case "rsync":
		return judgeRsync
	case "sed", "gsed":
		return judgeSed
	case "vi", "vim", "nvim", "ex", "ed", "emacs":
		return judgeEditor
	case "sqlite":
		return judgeSqlite
	}
	return nil
}

// managers are the programs that remove other programs.
const managers table.Words = "npm pnpm yarn bun brew port apt apt-get aptitude dpkg rpm dnf yum zypper pacman yay apk snap flatpak pip pipx uv cargo nix-env nix choco scoop winget gem"

// judgeRemoval judges a package manager that removes hookd.
func judgeRemoval(j *shellLine, c *shellwords.Command) {
	args := c.Words[1:]
	if !hasWord(args, "remove uninstall purge rm erase un unlink autoremove delete -r -R -Rs -Rns -e -P --remove --purge --erase --uninstall") {
		return
	}
	for _, word := range args {
		name, _, _ := strings.Cut(strings.TrimPrefix(programName(word.Text), "hookd-dev-"), "=")
		if isHookdName(name) && len(name) > 1 {
			j.refuse("%s removes hookd", quoted(c.Text))
			return
		}
	}
}

// judgeTar judges what an archive is unpacked to, and what is written as one.
func judgeTar(j *shellLine, c *shellwords.Command, _ string) {
	args := slices.Clone(c.Words[1:])
	if len(args) > 0 && args[0].Literal && args[0].Text != "" && !strings.HasPrefix(args[0].Text, "-") {
		args[0].Text = "-" + args[0].Text // tar xf X
	}
	operands := operandsOf(args, "-f --file -C --directory -T --files-from -X --exclude --exclude-from --exclude-tag -I --use-compress-program -H --format -b -K -N --newer --mtime --transform --xform --strip-components --owner --group --mode")
	archives := valuesOf(args, []string{"-f", "--file"})
	operands = slices.DeleteFunc(operands, func(w shellwords.Word) bool { return slices.Contains(archives, w) })
	switch {
	case hasOption(args, "-x --extract --get"):
		for _, word := range operands {
			j.operand(c, word, replaces)
		}
		for _, word := range append(valuesOf(args, []string{"-C", "--directory", "--one-top-level"}), valuesOf(args, []string{"--cd"})...) {
			j.operand(c, word, replaces)
		}
	case hasOption(args, "-t --list -d --diff --compare"):
	default:
		for _, word := range archives {
			j.operand(c, word, writes)
		}
		if hasOption(args, "--remove-files") {
			for _, word := range operands {
				j.operand(c, word, removes)
			}
		}
	}
}

// judgeUnpack judges the words of the other programs that unpack: folders, and files of the
// archive.
func judgeUnpack(j *shellLine, c *shellwords.Command, _ string) {
	args := c.Words[1:]
	if hasOption(args, "-l -Z -v --list -t") && !hasOption(args, "-d -i -o") || len(args) > 0 && (args[0].Text == "l" || args[0].Text == "t") {
		return
	}
	for _, word := range args {
		text := word.Text
		for _, option := range []string{"-d", "-D", "-o", "-C", "--directory="} {
			if value, glued := strings.CutPrefix(text, option); glued && value != "" {
				j.operand(c, shellwords.Word{Text: value, Literal: word.Literal}, replaces)
			}
		}
		if !strings.HasPrefix(text, "-") {
			j.operand(c, word, replaces)
		}
	}
}

// judgeZip judges an archive that is written, and files that go into it and are removed.
func judgeZip(j *shellLine, c *shellwords.Command, _ string) {
	args := c.Words[1:]
	for i, word := range operandsOf(args, "-t -b -i -x") {
		switch {
		case i == 0:
			j.operand(c, word, writes)
		case hasOption(args, "-m --move"):
			j.operand(c, word, removes)
		}
	}
}

// judgeCopy judges cp, mv, ln and install: also a copy that is another name of the same file,
// through which it is written later, and a copy of hookd's own program.
func judgeCopy(j *shellLine, c *shellwords.Command, _ string) {
	name, args := programName(c.Words[0].Text), c.Words[1:]
	p := programs.of(name)
	if name == "cp" && hasOption(args, "-l -s --link --symbolic-link") {
		p.all = replaces
	}
	j.writing(c, p)
	operands := operandsOf(args, p.values)
	if len(operands) < 2 {
		return
	}
	for _, word := range operands[:len(operands)-1] {
		for _, text := range j.expander.word(word) {
			if !strings.Contains(text, unknown) && j.isHookd(unescape(joined(j.dirs[0], text), "")) {
				j.copies = append(j.copies, programName(operands[len(operands)-1].Text))
			}
		}
	}
}

// judgeRsync judges rsync, which also removes: what is not at the source, or the source.
func judgeRsync(j *shellLine, c *shellwords.Command, _ string) {
	args := c.Words[1:]
	p := programs.of("rsync")
	if hasOption(args, "--remove-source-files --remove-sent-files") {
		p.all = removes
	}
	if slices.ContainsFunc(args, func(w shellwords.Word) bool {
		return strings.HasPrefix(w.Text, "--del") && w.Text != "--delete-excluded"
	}) && !hasOption(args, "-n --dry-run --list-only") {
		p.last = removes
	}
	j.writing(c, p)
}

var (
	sedWrites = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)(?:^|[;{}!0-9/|,#$gpIiMm\s])[wW]\s+(\S[^\n]*)`)
	})
	sedRuns = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)(?:^|[;{}!0-9$/]\s*)e\s+(\S[^\n]*)`) })
)

// judgeSed judges the files that are edited in place, and those that its commands w and e name.
func judgeSed(j *shellLine, c *shellwords.Command, input string) {
	j.writing(c, programs.of("sed"))
	args := c.Words[1:]
	scripts := valuesOf(args, []string{"-e", "--expression"})
	if operands := operandsOf(args, programs.of("sed").values); len(scripts) == 0 && len(operands) > 0 {
		scripts = operands[:1]
	}
	for _, script := range append(scripts, shellwords.Word{Text: input, Literal: true}) {
		text := j.plain(script)
		for _, match := range sedWrites().FindAllStringSubmatch(text, -1) {
			j.operand(c, shellwords.Word{Text: strings.TrimRight(match[1], "} \t"), Literal: true}, writes)
		}
		for _, match := range sedRuns().FindAllStringSubmatch(text, -1) {
			j.nestedText(match[1])
		}
	}
}

// judgeEditor judges the files that an editor is given, and the commands: a path in them is
// written, as far as can be told.
func judgeEditor(j *shellLine, c *shellwords.Command, input string) {
	args := c.Words[1:]
	commands := append(valuesOf(args, []string{"-c", "--cmd", "-S", "--eval", "--execute", "-sc"}), shellwords.Word{Text: input, Literal: true})
	for _, text := range j.printed(c.From) {
		commands = append(commands, shellwords.Word{Text: text, Literal: true})
	}
	for _, word := range args {
		if text, is := strings.CutPrefix(word.Text, "+"); is {
			commands = append(commands, shellwords.Word{Text: text, Literal: word.Literal})
		}
	}
	for _, command := range commands {
		for line := range strings.Lines(j.plain(command)) {
			if run, is := strings.CutPrefix(strings.TrimLeft(line, ":"), "!"); is {
				j.nestedText(run)
				continue
			}
			for _, run := range pathRuns().FindAllString(line, -1) {
				if place, _ := j.pattern(j.expandHome(run), replaces); place != nil {
					j.refuse("%s would change %s, %s", quoted(c.Text), quoted(run), describe(place))
				}
			}
		}
	}
	if !hasOption(args, "-R") {
		j.writing(c, programs.of(programName(c.Words[0].Text)))
	}
}

var sqliteWrites = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)writefile|\.(output|once|save|backup|shell|system|log|excel|dump|archive|open|clone|import)\b|\b(attach|vacuum)\b`)
})

// judgeSqlite judges the commands of sqlite3 that write files.
func judgeSqlite(j *shellLine, c *shellwords.Command, input string) {
	for i, word := range append(slices.Clone(c.Words[1:]), shellwords.Word{Text: input, Literal: true}) {
		text := j.plain(word)
		if i == 0 || !sqliteWrites().MatchString(text) {
			continue
		}
		for _, run := range pathRuns().FindAllString(text, -1) {
			if place, _ := j.pattern(j.expandHome(run), replaces); place != nil {
				j.refuse("%s would change %s, %s", quoted(c.Text), quoted(run), describe(place))
			}
		}
	}
}
