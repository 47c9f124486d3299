package main

import (
	"bytes"
	"cmp"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
)

const (
	// usualWidth is how many columns help has where no terminal is.
	usualWidth = 80
	// leastWidth is the narrowest help: a terminal that has less breaks it itself.
	leastWidth = 24
	// leastRoom is how many columns a second column needs. Where it has less, it goes on
	// at the left.
	leastRoom = 20
)

// fitHelp makes the help of all commands fit the terminal, which has width columns, 0
// where there is none.
func fitHelp(root *cobra.Command, width int) {
	help := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		out := c.OutOrStdout()
		var text bytes.Buffer
		c.SetOut(&text)
		help(c, args)
		c.SetOut(out)
		_, _ = io.WriteString(out, fit(text.String(), width))
	})
}

// fit breaks lines that are wider than a terminal of width columns between words; 0 is no
// terminal. In a paragraph the rest of a line goes before the next line.
func fit(text string, width int) string {
	width = max(cmp.Or(width, usualWidth), leastWidth)
	var b strings.Builder
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		line = strings.TrimRight(line, " ")
		if !inParagraph(line) || i+1 == len(lines) || !inParagraph(lines[i+1]) {
			fitLine(&b, line, width)
			continue
		}
		broken := false
		for show.Width(line) > width {
			head, rest := splitAt(line, 0, width)
			if rest == "" {
				break // one long word
			}
			b.WriteString(head + "\n")
			line, broken = rest, true
		}
		if broken {
			lines[i+1] = line + " " + lines[i+1]
		} else {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// inParagraph reports whether a line is one of running text.
func inParagraph(line string) bool {
	return line != "" && line[0] != ' ' && line[0] != '\t'
}

// fitLine writes a line in as many lines as it needs. They go on below the second
// column, if the line has two, as those of flags and commands have.
func fitLine(b *strings.Builder, line string, width int) {
	begin := len(line) - len(strings.TrimLeft(line, " "))
	hang := secondColumn(line, begin)
	if width-hang < leastRoom {
		hang = min(begin+4, width/4)
	}
	for done := begin; show.Width(line) > width; done = hang {
		head, rest := splitAt(line, done, width)
		if rest == "" {
			break // one long word
		}
		b.WriteString(head + "\n")
		line = strings.Repeat(" ", hang) + rest
	}
	b.WriteString(line + "\n")
}

// secondColumn returns where the text of a flag or a command begins, else where the line
// itself does.
func secondColumn(line string, begin int) int {
	if column := strings.LastIndex(line, "   "); column > begin {
		return show.Width(line[:column+3])
	}
	if column := strings.LastIndex(line[begin:], "  "); column > 0 {
		return show.Width(line[:begin+column+2])
	}
	return begin
}

// splitAt splits a line at the last blank that leaves at most width columns before it, and
// more than the first begin. Where a word is wider it is split after that word: a path or
// a flag stays whole, so that it can be copied.
func splitAt(line string, begin, width int) (head, rest string) {
	at := -1
	for i := begin; i < len(line); i++ {
		if line[i] != ' ' || strings.TrimSpace(line[:i]) == "" {
			continue
		}
		if at >= 0 && show.Width(line[:i]) > width {
			break
		}
		at = i
	}
	if at < 0 || show.Width(line) <= width {
		return line, ""
	}
	return strings.TrimRight(line[:at], " "), strings.TrimLeft(line[at:], " ")
}
