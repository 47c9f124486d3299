package main

import (
	"bytes"
	"context"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/test/release/manual"
)

// manualPages returns the manual pages of hookd, made of the help that this program prints.
func manualPages(t *testing.T) (pages []manual.Page, help map[string]string) {
	t.Helper()
	p := newParts(context.WithCancelCause(t.Context()))
	p.console.Out = &show.Printer{W: io.Discard}
	root := newRoot(p, nil)
	help = map[string]string{}
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd("fire") // as executing any command does
	book := manual.Book{Program: "hookd", Summary: root.Short, Version: "1.2.3", Date: time.Unix(0, 0), Help: func(commands ...string) (string, error) {
		c, _, err := root.Find(commands)
		if err != nil {
			return "", err
		}
		var out bytes.Buffer
		c.SetOut(&out)
		c.InitDefaultHelpFlag()
		err = c.Help()
		help[strings.Join(append([]string{"hookd"}, commands...), "-")] = out.String()
		return out.String(), err
	}}
	pages, err := book.Pages()
	if err != nil {
		t.Fatal(err)
	}
	return pages, help
}

// Each command has a page, and the page the same words as --help: none is lost, and none
// is said twice or anew.
func TestManualPagesSayWhatHelpSays(t *testing.T) {
	pages, help := manualPages(t)
	if len(pages) < 30 || len(pages) != len(help) {
		t.Errorf("%d pages of %d texts of help", len(pages), len(help))
	}
	heading := regexp.MustCompile(`(?m)^(Usage|(Global )?Flags|.*):$`)
	escape := strings.NewReplacer(`\e`, `\`, `\-`, "-", `\(aq`, "'", `\(ga`, "`", `\(ha`, "^", `\(ti`, "~", `\(dq`, `"`, `\fB`, "", `\fR`, "", `\&`, "", `\[u2026]`, "…")
	for _, page := range pages {
		_, body, _ := strings.Cut(page.Text, ".SH SYNOPSIS\n")
		body, _, _ = strings.Cut(body, ".SH SEE ALSO\n")
		var said []string
		for line := range strings.Lines(body) {
			if title, is := strings.CutPrefix(line, ".SS "); is {
				said = append(said, strings.Fields(escape.Replace(title))...)
			} else if !strings.HasPrefix(line, ".") {
				said = append(said, strings.Fields(escape.Replace(line))...)
			}
		}
		text := heading.ReplaceAllStringFunc(help[page.Name], func(title string) string {
			if title == "Usage:" || title == "Examples:" || strings.HasSuffix(title, "Flags:") { // .SH of the page
				return ""
			}
			if strings.Contains(page.Text, ".SS "+strings.TrimSuffix(title, ":")+"\n") {
				return strings.TrimSuffix(title, ":")
			}
			return title
		})
		want := strings.Fields(text)
		slices.Sort(said)
		slices.Sort(want)
		if !slices.Equal(said, want) {
			t.Errorf("%s says\n%q\nand its help\n%q", page.Name, said, want)
		}
	}
}

// groff prints the pages without a warning, and they fit 80 columns.
func TestManualPagesFit(t *testing.T) {
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("groff is not installed, with which manual pages are laid out; the test before this one compares their words without it, here and in CI")
	}
	pages, _ := manualPages(t)
	var all, out, said bytes.Buffer
	for _, page := range pages {
		all.WriteString(page.Text)
	}
	cmd := exec.Command(groff, "-man", "-ww", "-Tutf8", "-P-cbou", "-rLL=78n")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &all, &out, &said
	if err := cmd.Run(); err != nil || said.Len() > 0 {
		t.Errorf("%v, %s", err, said.String())
	}
	lines := 0
	for line := range strings.Lines(out.String()) {
		lines++
		if line = strings.TrimRight(line, "\n"); show.Width(line) > 80 && len(strings.Fields(line)) > 1 {
			t.Errorf("a line of %d columns: %s", show.Width(line), line)
		}
	}
	if lines < 20*len(pages) {
		t.Errorf("%d lines for %d pages", lines, len(pages))
	}
}
