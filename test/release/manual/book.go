package manual

import (
	"fmt"
	"strings"
	"time"
)

// Book is what the pages of one program have in common.
type Book struct {
	Program string    // its name: hookd
	Summary string    // what it is, in one line
	Version string    // of the program
	Date    time.Time // of the version
	// Help returns what the program prints for these commands and --help.
	Help func(commands ...string) (string, error)
}

// Page is one manual page of section 1.
type Page struct {
	Name string // hookd-fire
	Text string // roff
}

// Pages returns the page of the program and one for each of its commands, in the order in
// which the help names them.
func (b Book) Pages() ([]Page, error) {
	pages, err := b.pagesOf(nil, b.Summary, "")
	if err != nil {
		return nil, err
	}
	if len(pages) == 1 {
		return nil, fmt.Errorf("the help of %s lists no commands", b.Program)
	}
	return pages, nil
}

// pagesOf returns the page of a command and those of its own commands. A command that
// has the same name as a flag of every program, help, has no page.
func (b Book) pagesOf(path []string, summary, parent string) ([]Page, error) {
	printed, err := b.Help(path...)
	if err != nil {
		return nil, fmt.Errorf("the help of %s: %w", b.command(path, " "), err)
	}
	h, err := parseHelp(printed)
	if err != nil {
		return nil, fmt.Errorf("the help of %s: %w", b.command(path, " "), err)
	}
	// A list that is none of commands would be followed without an end, else.
	if command := b.command(path, " "); !strings.HasPrefix(h.usage[0]+" ", command+" ") {
		return nil, fmt.Errorf("the help of %s is that of %q: it is no command", command, h.usage[0])
	}
	name := b.command(path, "-")
	var below []Page
	see := []string{}
	if parent != "" {
		see = append(see, parent)
	}
	for _, s := range h.sections {
		if !s.commands {
			continue
		}
		for _, c := range s.items {
			if c.name == "help" {
				continue
			}
			pages, err := b.pagesOf(append(path[:len(path):len(path)], c.name), c.text, name)
			if err != nil {
				return nil, err
			}
			see = append(see, pages[0].Name)
			below = append(below, pages...)
		}
	}
	page := Page{Name: name, Text: b.write(name, b.command(path, " "), summary, h, see)}
	return append([]Page{page}, below...), nil
}

func (b Book) command(path []string, between string) string {
	return strings.Join(append([]string{b.Program}, path...), between)
}
