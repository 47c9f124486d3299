package terminal

import (
	"context"
	"strings"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
)

// Confirm puts a yes-or-no question to the person and returns the answer. Lines that were
// typed before the question are no answer to it. An empty line is a no; so is the end of
// input. Another answer than yes or no is asked for again.
func Confirm(ctx context.Context, p *show.Printer, lines *Lines, question string) (yes bool, err error) {
	for {
		lines.Drop()
		p.Print("%s [y/N] ", question)
		line, open, err := lines.Next(ctx)
		if err != nil || !open {
			return false, err
		}
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			return true, nil
		case "", "n", "no":
			return false, nil
		}
		p.Print("type y for yes, or n for no\n")
	}
}
