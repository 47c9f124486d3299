package main

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// helpWidth is how many columns every terminal has. A longer line would be broken
// in the middle of a word.
const helpWidth = 80

// wrapHelp makes the help of all commands fit the terminal.
func wrapHelp(root *cobra.Command) {
	help := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		out := c.OutOrStdout()
		var text bytes.Buffer
		c.SetOut(&text)
		help(c, args)
		c.SetOut(out)
		_, _ = io.WriteString(out, wrap(text.String()))
	})
}

// wrap breaks lines that are too wide between words. In a paragraph the rest of a line
// goes before the next line.
func wrap(text string) string {
	var b strings.Builder
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		line = strings.TrimRight(line, " ")
		if !inParagraph(line) || i+1 == len(lines) || !inParagraph(lines[i+1]) {
			wrapLine(&b, line)
			continue
		}
		var rest string
		for utf8.RuneCountInString(line) > helpWidth {
			at := strings.LastIndexByte(line, ' ')
			if at < 0 {
				break // one long word
			}
			line, rest = line[:at], strings.TrimSpace(line[at:]+" "+rest)
		}
		b.WriteString(line + "\n")
		if rest != "" {
			lines[i+1] = rest + " " + lines[i+1]
		}
	}
	return b.String()
}

// inParagraph reports whether a line is one of running text.
func inParagraph(line string) bool {
	return line != "" && line[0] != ' ' && line[0] != '\t'
}

// wrapLine writes a line in as many lines as it needs. They go on below the second
// column, if the line has two, as those of flags and commands have.
func wrapLine(b *strings.Builder, line string) {
	indent := len(line) - len(strings.TrimLeft(line, " "))
	if column := strings.LastIndex(line, "   "); column > indent {
		indent = column + 3
	} else if column := strings.LastIndex(line[indent:], "  "); column > 0 {
		indent += column + 2
	}
	for utf8.RuneCountInString(line) > helpWidth {
		at := strings.LastIndexByte(line[:helpWidth+1], ' ')
		if at <= indent {
			break // one long word
		}
		b.WriteString(strings.TrimRight(line[:at], " ") + "\n")
		line = strings.Repeat(" ", indent) + strings.TrimLeft(line[at:], " ")
	}
	b.WriteString(line + "\n")
}
