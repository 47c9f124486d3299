package main

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
)

// No help breaks a word, whatever the width of the terminal: only a word that is wider
// than the terminal is left to it.
func TestHelpFitsTheTerminal(t *testing.T) {
	for _, width := range []int{40, 80, 120, 0} {
		p := newParts(context.WithCancelCause(t.Context()))
		p.console.Out = &show.Printer{W: io.Discard, Width: width}
		root := newRoot(p, nil)
		if width == 0 {
			width = usualWidth
		}
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
				line = strings.TrimSuffix(line, "\n")
				if show.Width(line) > width && len(strings.Fields(line)) > 1 {
					t.Errorf("%s: %d columns of %d: %s", c.CommandPath(), show.Width(line), width, line)
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
}

// Breaking help moves no word and loses none.
func TestHelpKeepsItsWords(t *testing.T) {
	p := newParts(context.WithCancelCause(t.Context()))
	var plain, narrow bytes.Buffer
	for width, out := range map[int]*bytes.Buffer{10000: &plain, 40: &narrow} {
		p.console.Out = &show.Printer{W: out, Width: width}
		run, _, err := newRoot(p, nil).Find([]string{"run"})
		if err != nil {
			t.Fatal(err)
		}
		if err := run.Help(); err != nil {
			t.Fatal(err)
		}
	}
	if a, b := strings.Fields(plain.String()), strings.Fields(narrow.String()); !slices.Equal(a, b) {
		t.Errorf("%q\nbecame\n%q", a, b)
	}
}

func TestFitLine(t *testing.T) {
	words := strings.Repeat("word ", 20) + "end"
	for line, want := range map[string]string{
		"short":                                 "short\n",
		words:                                   strings.TrimRight(strings.Repeat("word ", 16), " ") + "\n" + strings.Repeat("word ", 4) + "end\n",
		"      --flag D   " + words:             "      --flag D   " + strings.TrimRight(strings.Repeat("word ", 12), " ") + "\n" + strings.Repeat(" ", 17) + strings.Repeat("word ", 8) + "end\n",
		"  name  " + words:                      "  name  " + strings.TrimRight(strings.Repeat("word ", 14), " ") + "\n" + strings.Repeat(" ", 8) + strings.Repeat("word ", 6) + "end\n",
		strings.Repeat("x", 90):                 strings.Repeat("x", 90) + "\n",
		"  " + strings.Repeat("x", 90) + " end": "  " + strings.Repeat("x", 90) + "\n  end\n",
	} {
		var b strings.Builder
		fitLine(&b, line, 80)
		if b.String() != want {
			t.Errorf("%q\n%s\nwant\n%s", line, b.String(), want)
		}
	}
}
