package shellwords

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// coder reads the code of other languages than the shell's.
type coder struct{ *reader }

// language is an interpreter of another language than the shell's.
type language struct {
	options string // letters of options whose value is code
	long    []string
	verb    string // a word after which code stands: deno eval
	operand bool   // the first operand is code: awk
	ticks   bool   // a text in backticks is a command
	lines   bool   // a line may be a command after a word: expect's spawn
	file    bool   // without an operand it runs what it reads
}

var languages = []struct {
	name string
	language
}{
	{"python", language{options: "c", file: true}},
	{"pypy", language{options: "c", file: true}},
	{"ipython", language{options: "c", lines: true}},
	{"perl", language{options: "eE", ticks: true, file: true}},
	{"ruby", language{options: "e", ticks: true, file: true}},
	{"irb", language{file: true, ticks: true}},
	{"php", language{options: "rBE", ticks: true, file: true}},
	{"node", language{options: "ep", long: []string{"--eval", "--print"}, file: true}},
	{"nodejs", language{options: "ep", long: []string{"--eval", "--print"}, file: true}},
	{"bun", language{options: "e", long: []string{"--eval", "--print"}}},
	{"deno", language{verb: "eval"}},
	{"tsx", language{options: "e", long: []string{"--eval"}}},
	{"lua", language{options: "e", file: true}},
	{"luajit", language{options: "e", file: true}},
	{"Rscript", language{options: "e"}},
	{"R", language{options: "e"}},
	{"julia", language{options: "eE", ticks: true, file: true}},
	{"osascript", language{options: "e", file: true}},
	{"elixir", language{options: "e"}},
	{"guile", language{options: "c", file: true}},
	{"groovy", language{options: "e"}},
	{"emacs", language{long: []string{"--eval", "-eval", "--execute"}}},
	{"tclsh", language{lines: true, file: true}},
	{"expect", language{options: "c", lines: true, file: true}},
	{"awk", language{operand: true}},
	{"gawk", language{operand: true}},
	{"mawk", language{operand: true}},
	{"nawk", language{operand: true}},
}

// languageOf returns the language of a program: python3.11 is python.
func languageOf(program string) (language, bool) {
	program = strings.TrimRight(program, "0123456789.-")
	for i := range languages {
		if languages[i].name == program {
			return languages[i].language, true
		}
	}
	return language{}, false
}

// interpreter reads the commands that code given to an interpreter runs.
func (r coder) interpreter(words []Word, l language, in *input) {
	given := func(code Word) {
		if code.Literal {
			r.code(words, code.Text, l)
		}
	}
	operands, coded := 0, false
	for i := 1; i < len(words); i++ {
		word := words[i]
		value := func() {
			if coded = true; i+1 < len(words) {
				i++
				given(words[i])
			}
		}
		name, after, glued := strings.Cut(word.Text, "=")
		switch {
		case operands == 0 && l.verb != "" && word.Text == l.verb, slices.Contains(l.long, word.Text):
			value()
		case glued && slices.Contains(l.long, name):
			coded = true
			given(Word{Text: after, Literal: word.Literal})
		case strings.HasPrefix(word.Text, "--"):
		case len(word.Text) > 1 && word.Text[0] == '-':
			switch at := l.codeOption(word.Text); {
			case at == len(word.Text)-1:
				value()
			case at > 0:
				coded = true
				given(Word{Text: word.Text[at+1:], Literal: word.Literal})
			case word.Text == "-m":
				coded = true // a module; what it reads is for it
			}
		case word.Text == "-":
		default:
			if operands++; operands == 1 && l.operand && !coded {
				given(word)
			}
			if operands == 1 && !word.Literal && strings.HasPrefix(word.Text, "<(") {
				r.doubt(words, "an interpreter runs what another command prints")
			}
		}
	}
	switch {
	case operands > 0 || coded || !l.file && !l.lines || in == nil:
	case in.known:
		r.code(words, in.text, l)
	case in.piped:
		r.doubt(words, "an interpreter runs what it reads")
	}
}

// codeOption returns where in a word of short options the one stands whose value is code.
func (l *language) codeOption(word string) int {
	for i := 1; i < len(word); i++ {
		switch c := word[i]; {
		case strings.IndexByte(l.options, c) >= 0:
			return i
		case strings.IndexByte("MIWXmrxFiCTd", c) >= 0 || c < 'A': // the rest is its value
			return -1
		}
	}
	return -1
}

// doubt adds that a program may run any command. Who grants the program grants that.
func (r coder) doubt(words []Word, why string) {
	r.found.add(Command{Text: strings.Join(texts(words), " "), Words: words, Given: true, Unclear: why, granted: true})
}

var (
	// runners are the names under which languages run programs; weakRunners mean
	// something else as often, and count where a text stands in their brackets.
	runners     = `system|popen[0-9]?|Popen|shell_exec|passthru|proc_open|pcntl_exec|getoutput|getstatusoutput|check_call|check_output|os\.execute|exec[a-zA-Z]+|spawn[a-zA-Z]*|shell-command|do shell script|qx|fork_exec`
	weakRunners = `run|call|cmd|Command|exec|eval|sh|shell|x|open`

	codeCalls = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(^|[^\w-])(` + runners + `|` + weakRunners + `)\b[ \t]*[({\[]*[ \t]*`)
	})
	codeTexts = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?s)'''.*?'''|""".*?"""|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"`)
	})
	codeTicks = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("(?s)`([^`]*)`|(?:qx|%x)(?:\\{([^}]*)\\}|\\(([^)]*)\\)|\\[([^\\]]*)\\]|/([^/]*)/|!([^!]*)!)")
	})
	codeLines = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)(?:^|[;{[\s])(?:spawn|exec|!)\s*([^\n;]+)`) })
	codePipes = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`("(?:[^"\\]|\\.)*")\s*\|&?\s*getline|\|&?\s*("(?:[^"\\]|\\.)*")`)
	})
	codeHidden = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`__import__\s*\(\s*(?:[^'"\s]|'[^']*'\s*[^)\s]|"[^"]*"\s*[^)\s])|process\.binding`)
	})
	packs = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(pack|decode_base64|unpack|join|sprintf|reverse)\b`)
	})
	codeBetween = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[\s,\[\](){}:]*(?:(?:args|file|cmd|shell|check)\s*[:=]\s*(?:True\b)?)?[\s,\[({]*$`)
	})
)

// code finds the commands that code runs: texts in the brackets of calls that run
// programs. Where such a call is given something else, nobody knows what it runs.
func (r coder) code(words []Word, code string, l language) {
	if r.codes++; r.codes > maxCodes {
		r.doubt(words, "its code holds too many calls")
		return
	}
	unclear := codeHidden().MatchString(code)
	quoted := codeTexts().FindAllStringIndex(code, -1)
	for _, at := range codeCalls().FindAllStringSubmatchIndex(code, -1) {
		if slices.ContainsFunc(quoted, func(q []int) bool { return q[0] < at[4] && at[4] < q[1] }) {
			continue
		}
		name, method := code[at[4]:at[5]], at[4] > 0 && code[at[4]-1] == '.'
		weak := weakRunner(name, method, code[at[5]:])
		list, all := callTexts(code, at[1], quoted)
		switch {
		case len(list) == 0:
			unclear = unclear || !weak && bracketed(code[at[5]:])
		case len(list) == 1:
			r.codeText(words, list[0], l, name)
			unclear = unclear || !all
		default:
			r.givenWords(list)
			if strings.ContainsAny(list[0], " ;|&") {
				r.givenText(list[0], false)
			}
			unclear = unclear || !all && !weak
		}
	}
	if l.ticks {
		for _, m := range codeTicks().FindAllStringSubmatch(code, -1) {
			r.guessedText(words, strings.Join(m[1:], ""))
		}
		for _, q := range quoted { // open(F, "|COMMAND")
			if text := codeValue(code[q[0]:q[1]]); strings.HasPrefix(text, "|") || strings.HasSuffix(text, "|") && len(text) > 1 {
				r.guessedText(words, strings.Trim(text, "| "))
			}
		}
	}
	if l.lines {
		for _, m := range codeLines().FindAllStringSubmatch(code, -1) {
			r.guessedText(words, strings.TrimRight(m[1], "}]\""))
		}
	}
	if l.operand {
		for _, m := range codePipes().FindAllStringSubmatch(code, -1) {
			r.guessedText(words, codeValue(m[1]+m[2]))
		}
	}
	if unclear {
		r.doubt(words, "its code runs what only shows when it runs")
	}
}

// maxCodes bounds the texts in other languages that a line is searched for.
const maxCodes = 200

// weakRunner reports whether a name often means something else than to run a program.
func weakRunner(name string, method bool, after string) bool {
	if name == "exec" || name == "eval" {
		return method || !bracketed(after)
	}
	return slices.Contains(strings.Split(weakRunners, "|"), name)
}

// bracketed reports whether a call is given something.
func bracketed(after string) bool {
	after = strings.TrimSpace(after)
	return len(after) > 1 && (after[0] == '(' && !strings.HasPrefix(strings.TrimSpace(after[1:]), ")") || after[0] == '$' || packs().MatchString(after))
}

// callTexts returns the texts that follow one another from a place on, and whether there
// is nothing else in the brackets.
func callTexts(code string, from int, quoted [][]int) (list []string, all bool) {
	all = true
	for _, q := range quoted {
		if q[0] < from {
			continue
		}
		if !codeBetween().MatchString(code[from:q[0]]) || len(list) > 0 && strings.ContainsAny(code[from:q[0]], ")}") && !strings.Contains(code[from:q[0]], "args") {
			break
		}
		list, from = append(list, codeValue(code[q[0]:q[1]])), q[1]
	}
	rest := strings.TrimLeft(code[from:], " \t])}")
	for _, method := range []string{".split()", ".strip()", ".encode()"} {
		rest = strings.TrimPrefix(rest, method)
	}
	if rest != "" && strings.ContainsRune("+.%*&", rune(rest[0])) && !strings.HasPrefix(code[from:], ")") && !strings.HasPrefix(code[from:], "]") {
		all = false
	}
	return list, all
}

// codeValue returns a text of code without its quotes.
func codeValue(text string) string {
	for _, quote := range []string{`"""`, "'''", `"`, "'"} {
		if inner, is := strings.CutPrefix(text, quote); is {
			text = strings.TrimSuffix(inner, quote)
			break
		}
	}
	return unescape(strings.NewReplacer("#{", "${", `\n`, "\n", `\t`, "\t").Replace(text), "")
}

// codeText reads the one text that a call is given: a command for a shell, or code.
func (r coder) codeText(words []Word, text string, l language, name string) {
	if name == "exec" || name == "eval" {
		r.code(words, text, l)
	}
	switch name {
	case "open":
	case "eval": // code, which the shell need not understand
		r.readText(text)
	default:
		r.guessedText(words, text)
	}
}

// guessedText reads a text that a program most likely gives to a shell. A shell runs the lines
// before one that it cannot read, so what cannot be read may run anything.
func (r coder) guessedText(words []Word, text string) {
	if !r.readText(text) {
		r.doubt(words, "it runs a text that cannot be read as a shell line")
	}
}

// readText reads a text that may be one for a shell, or something else, and reports whether it
// can be read.
func (r coder) readText(text string) bool {
	inner := reader{found: newFound(), given: true, depth: r.depth + 1}
	inner.found.commands, inner.found.bytes = r.found.commands, r.found.bytes
	inner.found.project, inner.found.here = r.found.project, r.found.here
	if inner.text(text); inner.found.err == nil {
		r.found.commands, r.found.bytes = inner.found.commands, inner.found.bytes
	}
	return inner.found.err == nil
}

// givenWords adds a command of which the words are known.
func (r coder) givenWords(list []string) {
	words := make([]Word, len(list))
	for i, text := range list {
		words[i] = Word{Text: text, Literal: true}
	}
	r.found.add(Command{Text: strings.Join(list, " "), Words: words, Given: true})
	if r.depth < maxDepth {
		r.depth++
		wrapping(r).wrapped(words, nil)
		r.depth--
	}
}
