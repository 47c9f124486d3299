package integration

import (
	"regexp"
	"strings"
)

// A block is what stands between two fences of a page.
type block struct {
	page, language, text string
	line                 int
	notRun               string // the reason of a mark "not run" above it
	needs                string // the program of a mark "needs NAME" above it
	exit                 int    // of a mark "ends with N" above it
	machine              bool   // settings with a mark "machine" above them: for the machine's file only
	prints               string // the text block after it: what its commands print
}

var (
	notRunMark = regexp.MustCompile(`^<!-- not run: (.+) -->$`)
	needsMark  = regexp.MustCompile(`^<!-- needs (\w+) -->$`)
	exitMark   = regexp.MustCompile(`^<!-- ends with ([1-9]\d?) -->$`)
)

// isProgram reports whether a block is a script, which is stored and started, and
// not commands that a reader pastes.
func (b *block) isProgram() bool { return strings.HasPrefix(b.text, "#!") }

func (b *block) isCommands() bool {
	return !b.isProgram() && (b.language == "sh" || b.language == "bash" || b.language == "shell")
}

// blocksOf reads the blocks of a page. A text block right after commands is what
// they print.
func blocksOf(page, text string) (blocks []*block) {
	var open *block
	var indent string
	var mark, last string // the last line that is not empty, and the one before the fence
	for i, line := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		bare := strings.TrimLeft(line, " ")
		switch {
		case open == nil && strings.HasPrefix(bare, "```"):
			indent = line[:len(line)-len(bare)]
			language, _, _ := strings.Cut(strings.TrimPrefix(bare, "```"), " ")
			open = &block{page: page, language: language, line: i + 1}
			mark = last
			if found := notRunMark.FindStringSubmatch(mark); found != nil {
				open.notRun = found[1]
			}
			if found := needsMark.FindStringSubmatch(mark); found != nil {
				open.needs = found[1]
			}
			if found := exitMark.FindStringSubmatch(mark); found != nil {
				open.exit = number(found[1])
			}
			open.machine = mark == "<!-- machine -->"
		case open == nil:
			if bare != "" {
				last = bare
			}
		case bare == "```":
			before := (*block)(nil)
			if len(blocks) > 0 && last == "```" {
				before = blocks[len(blocks)-1]
			}
			if open.language == "text" && before != nil && before.isCommands() && before.prints == "" {
				before.prints = open.text
			} else {
				blocks = append(blocks, open)
			}
			open, last = nil, "```"
		default:
			open.text += strings.TrimPrefix(line, indent) + "\n"
		}
	}
	return blocks
}

func number(digits string) (n int) {
	for _, digit := range digits {
		n = n*10 + int(digit-'0')
	}
	return n
}

// matchesPrint compares what a page shows with what was printed. In a page, …
// stands for any text.
func matchesPrint(want, got string) bool {
	pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimRight(want, "\n")), "…", "(?s:.*)")
	return regexp.MustCompile("^" + pattern + `\n*$`).MatchString(got)
}
