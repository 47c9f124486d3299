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

var interpreters = rows[interpreter]{
	{"python", interpreter{is: true, code: "-c"}}, {"pypy", interpreter{is: true, code: "-c"}}, {"perl", interpreter{is: true, code: "-e -E", inPlace: "-i"}}, {"ruby", interpreter{is: true, code: "-e", inPlace: "-i"}},
	{"node", interpreter{is: true, code: "-e --eval -p --print"}}, {"nodejs", interpreter{is: true, code: "-e --eval -p --print"}}, {"bun", interpreter{is: true, code: "-e --eval -p --print"}}, {"deno", interpreter{is: true, code: "eval"}}, {"tsx", interpreter{is: true, code: "-e --eval"}},
	{"php", interpreter{is: true, code: "-r"}}, {"lua", interpreter{is: true, code: "-e"}}, {"rscript", interpreter{is: true, code: "-e"}}, {"julia", interpreter{is: true, code: "-e --eval"}}, {"osascript", interpreter{is: true, code: "-e"}}, {"elixir", interpreter{is: true, code: "-e"}}, {"tclsh", interpreter{is: true}}, {"guile", interpreter{is: true, code: "-c"}},
	{"awk", interpreter{is: true, first: true, inPlace: "-i"}}, {"gawk", interpreter{is: true, first: true, inPlace: "-i"}}, {"mawk", interpreter{is: true, first: true}}, {"nawk", interpreter{is: true, first: true}},
	{"powershell", interpreter{is: true, code: "-c -command -Command -C"}}, {"pwsh", interpreter{is: true, code: "-c -command -Command -C"}},
}

// judgeInterpreter judges a text that a command gives to an interpreter: as the value of an
// option, as its first operand, or on stdin. A script in a file is not read.
func judgeInterpreter(j *shellLine, c *shellwords.Command, name, input string) {
	in, args := interpreters.of(name), c.Words[1:]
	shown := valuesOf(args, strings.Fields(in.code))
	reads := len(shown) > 0 // and writes nothing
	for _, word := range shown {
		reads = reads && word.Literal && !writingWords().MatchString(word.Text)
		j.code(c.Text, j.codeText(word))
		if name == "pwsh" || name == "powershell" {
			j.nestedText(strings.ReplaceAll(j.codeText(word), `\`, "/"))
		}
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
	if !in.first {
		for _, word := range args {
			if strings.HasPrefix(word.Text, "--") && strings.Contains(word.Text, "=") {
				operands = append(operands, valueOf(word))
			}
		}
	}
	for _, word := range operands {
		if in.inPlace != "" && (hasOption(args, in.inPlace) || editsInPlace(args)) {
			j.operand(c, word, writes)
		} else if place, _ := j.target(word, mentions); place != nil && !in.first && !reads {
			j.doubt("%s names %s, %s", quoted(c.Text), quoted(word.Text), describe(place))
		}
	}
}

// editsInPlace reports whether letters of an option say so, before a suffix: perl -pi.bak.
func editsInPlace(args []shellwords.Word) bool {
	return slices.ContainsFunc(args, func(w shellwords.Word) bool { return inPlace().MatchString(w.Text) })
}

var inPlace = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-[pnl0-9aw]*i([.~]\S*)?$|^-[pnl0-9aw]+i`) })

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
		return regexp.MustCompile(`(?i)\bkill\b|os\.kill|process\.kill|\brm\b|rm_rf?|` + "`" + `|%x[\[({]|['"][rwax]b?\+?b?['"]|['"][wax]b?t?['"]|['"]>{1,2}|>{1,2}\s*['"]|\b\w*(write|unlink|remove|delete|rename|replace|rmtree|rmdir|chmod|chown|truncate|copy|move|symlink|link_to|hardlink|touch|mkdir|makedirs|dump|save|append|put_contents|createWriteStream|outputFile|rmSync|cpSync|system|exec|spawn|popen|subprocess|shell|inplace|out-file|set-content)\w*\b|\b(link|open\s*\([^)]*O_(WRONLY|RDWR))\b`)
	})
	removingWords = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)unlink|remove|delete|rename|replace|rmtree|rm_r|\brm\b|rmdir|rmSync|chmod|chown|symlink|\bmove|system|exec|spawn|popen|subprocess|` + "`|%x")
	})
	runningWords = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)system|exec|spawn|popen|subprocess|shell|\bsh\b|os\.kill|process\.kill|posix_kill|\bkill\b|` + "`|%x|Deno.Command|Bun.\\$")
	})
	literals = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|` + "`[^`]*`" + `|%x[\[({][^\])}]*`)
	})
	killed      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`kill\w*\(([^)]*)\)`) })
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
	before := len(j.found)
	runs := pathRuns().FindAllString(code, -1)
	u := writes
	if removingWords().MatchString(code) {
		u = replaces // of a folder of an agent's, too
	}
	for i, run := range runs {
		for _, text := range []string{run, strings.Join(runs[i:min(i+2, len(runs))], "/"), strings.Join(runs[i:min(i+3, len(runs))], "/")} {
			if !strings.ContainsAny(text, "./~") {
				continue
			}
			if place, _ := j.pattern(j.expandHome(text), u); place != nil {
				j.refuse("%s would change %s, %s", quoted(command), quoted(text), describe(place))
				return
			}
		}
	}
	if j.commandsIn(code); len(j.found) > before {
		return
	}
	if name := protect.Mentions(code); name != "" {
		j.doubt("%s writes and speaks of %s", quoted(command), name)
	}
}

// commandsIn judges the commands that code runs: its literals, each as a shell line, and
// those that stand in a list as the words of one.
func (j *judge) commandsIn(code string) {
	if !runningWords().MatchString(code) {
		return
	}
	for _, match := range killed().FindAllStringSubmatch(code, -1) {
		for _, text := range strings.FieldsFunc(match[1], func(r rune) bool { return r < '0' || r > '9' }) {
			j.process(&shellwords.Command{Text: code}, text)
		}
	}
	var list []string
	last := 0
	for _, at := range literals().FindAllStringIndex(code, maxLiterals) {
		text := strings.Trim(strings.TrimLeft(code[at[0]:at[1]], "%x[({"), "\"'`")
		if strings.Trim(code[last:at[0]], ", \n\t[(") != "" || len(list) > 20 {
			list = nil
		}
		last = at[1]
		list = append(list, quotedWord(text))
		if strings.ContainsAny(text, " \n") {
			j.line(text)
		}
		if len(list) > 1 {
			j.line(strings.Join(list, " "))
		}
	}
}

// maxLiterals of a text in another language are looked at.
const maxLiterals = 200

func (j *judge) expandHome(text string) string {
	if rest, is := strings.CutPrefix(text, "~/"); is && j.options.Home != "" {
		return plainPattern(j.options.Home) + "/" + rest
	}
	return strings.ReplaceAll(text, `\`, "/")
}
