package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// No help breaks a word where a terminal has 80 columns.
func TestHelpFitsTheTerminal(t *testing.T) {
	root := newRoot(newParts(context.WithCancelCause(t.Context())), nil)
	commands := 0
	var look func(c *cobra.Command)
	look = func(c *cobra.Command) {
		commands++
		var out bytes.Buffer
		c.SetOut(&out)
		if err := c.Help(); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), "Usage:") {
			t.Errorf("%s has no help: %q", c.CommandPath(), out.String())
		}
		for line := range strings.Lines(out.String()) {
			if line = strings.TrimSuffix(line, "\n"); utf8.RuneCountInString(line) > helpWidth {
				t.Errorf("%s: %d columns: %s", c.CommandPath(), utf8.RuneCountInString(line), line)
			}
		}
		for _, sub := range c.Commands() {
			look(sub)
		}
	}
	look(root)
	if commands < 20 {
		t.Errorf("only %d commands", commands)
	}
}

func TestWrapLine(t *testing.T) {
	words := strings.Repeat("word ", 20) + "end"
	for line, want := range map[string]string{
		"short":                     "short\n",
		words:                       strings.TrimRight(strings.Repeat("word ", 16), " ") + "\n" + strings.Repeat("word ", 4) + "end\n",
		"      --flag D   " + words: "      --flag D   " + strings.TrimRight(strings.Repeat("word ", 12), " ") + "\n" + strings.Repeat(" ", 17) + strings.Repeat("word ", 8) + "end\n",
		"  name  " + words:          "  name  " + strings.TrimRight(strings.Repeat("word ", 14), " ") + "\n" + strings.Repeat(" ", 8) + strings.Repeat("word ", 6) + "end\n",
		strings.Repeat("x", 90):     strings.Repeat("x", 90) + "\n",
	} {
		var b strings.Builder
		wrapLine(&b, line)
		if b.String() != want {
			t.Errorf("%q\n%s\nwant\n%s", line, b.String(), want)
		}
	}
}
