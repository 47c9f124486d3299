package selfprotect

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/hookd-dev/hookd/internal/protect"
	"github.com/hookd-dev/hookd/internal/shellwords"
)

// interpreter is a program that runs a text in its own language.
type interpreter struct {
	is      bool
	code    string // options whose value is the text
	inPlace string // with this option the operands are written: perl -i
	first   bool   // the first operand is the text: awk
}

var interpreters = map[string]interpreter{
	"python": {is: true, code: "-c"}, "pypy": {is: true, code: "-c"}, "uv": {is: true}, "perl": {is: true, code: "-e -E", inPlace: "-i"}, "ruby": {is: true, code: "-e", inPlace: "-i"},
	"node": {is: true, code: "-e --eval -p --print"}, "nodejs": {is: true, code: "-e --eval -p --print"}, "bun": {is: true, code: "-e --eval -p --print"}, "deno": {is: true, code: "eval"}, "tsx": {is: true, code: "-e --eval"},
	"php": {is: true, code: "-r"}, "lua": {is: true, code: "-e"}, "rscript": {is: true, code: "-e"}, "julia": {is: true, code: "-e --eval"}, "osascript": {is: true, code: "-e"}, "elixir": {is: true, code: "-e"}, "tclsh": {is: true}, "guile": {is: true, code: "-c"}, "emacs": {is: true, code: "--eval"},
	"awk": {is: true, first: true, inPlace: "-i"}, "gawk": {is: true, first: true, inPlace: "-i"}, "mawk": {is: true, first: true}, "nawk": {is: true, first: true},
	"sqlite": {is: true}, "powershell": {is: true, code: "-c -command"}, "pwsh": {is: true, code: "-c -command"},
}

// interpreter judges a text that a command gives to an interpreter: as the value of an
// option, as its first operand, or on stdin. A script in a file is not read.
func (j *shellLine) interpreter(c *shellwords.Command, name, input string) {
	in, args := interpreters[name], c.Words[1:]
	for _, word := range valuesOf(args, strings.Fields(in.code)) {
		j.code(c.Text, j.codeText(word))
	}
	operands := operandsOf(args, in.code+" -f -v -F -m")
	switch {
	case in.first && len(operands) > 0:
		j.code(c.Text, j.codeText(operands[0]))
		operands = operands[1:]
	case len(operands) > 0 && operands[0].Text != "-" && in.code != "" && len(valuesOf(args, strings.Fields(in.code))) == 0:
		operands = operands[1:] // a script
	}
	if input != "" {
		j.code(c.Text, input)
	}
	for _, word := range operands {
		if in.inPlace != "" && hasOption(args, in.inPlace) {
			j.operand(c, word, writes)
		} else if place, _ := j.target(word, mentions); place != nil && !in.first {
			j.doubt("%s names %s, %s", quoted(c.Text), quoted(word.Text), describe(place))
		}
	}
}

// codeText is a word that is code, with what is known put in.
func (j *shellLine) codeText(word shellwords.Word) string {
	if word.Literal {
		return word.Text
	}
	var all []string
	for _, text := range j.expander.word(word) {
		all = append(all, unescape(text, ""))
	}
	return strings.Join(all, "\n")
}

var (
	// pathRuns are the parts of a text that may be paths.
	pathRuns = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[A-Za-z0-9_.~/\\:$*-]*[A-Za-z0-9_*/-]`) })
	// writingWords are what code that changes a file has in it, in one language or another.
	writingWords = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)['"][rwax]b?\+?b?['"]|['"][wax]b?t?['"]|['"]>{1,2}|>{1,2}\s*['"]|\b\w*(write|unlink|remove|delete|rename|replace|rmtree|rmdir|chmod|chown|truncate|copy|move|symlink|link_to|hardlink|touch|mkdir|makedirs|dump|save|append|put_contents|createWriteStream|outputFile|rmSync|cpSync|system|exec|spawn|popen|subprocess|shell|inplace|out-file|set-content)\w*\b|\b(link|open\s*\([^)]*O_(WRONLY|RDWR))\b`)
	})
	readingMode = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`['"]rb?['"]`) })
)

// maxCode of a text is looked at.
const maxCode = 64 << 10

// code judges a text in another language: it changes hook settings if it names them and
// has a word in it that writes. If it puts the name together from parts, that is in doubt.
func (j *judge) code(command, code string) {
	code = code[:min(len(code), maxCode)]
	if !writingWords().MatchString(readingMode().ReplaceAllString(code, "")) {
		return
	}
	runs := pathRuns().FindAllString(code, -1)
	for i, run := range runs {
		for _, text := range []string{run, strings.Join(runs[i:min(i+2, len(runs))], "/"), strings.Join(runs[i:min(i+3, len(runs))], "/")} {
			if !strings.ContainsAny(text, "./~") {
				continue
			}
			if place, _ := j.pattern(j.expandHome(text), writes); place != nil {
				j.refuse("%s would change %s, %s", quoted(command), quoted(text), describe(place))
				return
			}
		}
	}
	if name := protect.Mentions(code); name != "" {
		j.doubt("%s writes and speaks of %s", quoted(command), name)
	}
}

func (j *judge) expandHome(text string) string {
	if rest, is := strings.CutPrefix(text, "~/"); is && j.options.Home != "" {
		return plainPattern(j.options.Home) + "/" + rest
	}
	return strings.ReplaceAll(text, `\`, "/")
}

// ending judges kill, pkill and killall: of hookd's processes, or of all.
func (j *shellLine) ending(line *shellwords.Line, c *shellwords.Command, name string) {
	args := c.Words[1:]
	if name == "fuser" {
		if hasOption(args, "-k --kill") {
			for _, word := range operandsOf(args, "-n -s") {
				j.operand(c, word, writes)
			}
		}
		return
	}
	if name == "kill" && hasOption(args, "-l --list -L") {
		return
	}
	speaks := strings.Contains(strings.ToLower(line.Text), "hookd")
	for i, word := range args {
		switch {
		case !word.Literal && speaks:
			j.refuse("%s ends a process of hookd's", quoted(c.Text))
		case !word.Literal:
		case name == "kill":
			if pid := number(word.Text); pid > 1 && j.options.Runs != nil && j.options.Runs(pid) || word.Text == "-1" && i > 0 {
				j.refuse("%s ends process %s, which is hookd's", quoted(c.Text), word.Text)
			}
		case !strings.HasPrefix(word.Text, "-") && matchesHookd(name, word.Text, hasOption(args, "-f --full -r --regexp")):
			j.refuse("%s ends hookd", quoted(c.Text))
		case name == "killall5":
			j.refuse("%s ends every process, hookd's among them", quoted(c.Text))
		}
	}
}

// matchesHookd reports whether a pattern of pkill, or a name of killall, is that of hookd.
func matchesHookd(program, pattern string, full bool) bool {
	names := []string{"hookd", "hookd-bridge"}
	if program == "killall" && !full {
		return slices.Contains(names, pattern)
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return strings.Contains(pattern, "hookd")
	}
	if full {
		names = append(names, "hookd serve --socket", "/usr/local/bin/hookd serve --socket")
	}
	return slices.ContainsFunc(names, re.MatchString)
}

// number returns a text as a process number, 0 if it is none.
func number(text string) int {
	n := 0
	for _, r := range text {
		if r < '0' || r > '9' || n > 1<<30 {
			return 0
		}
		n = n*10 + int(r-'0')
	}
	return n
}
