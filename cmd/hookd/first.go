package main

import (
	"fmt"
	"strings"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/loader/install"
)

const what = `A hook is a program in .acai/hooks. It reads an event of the agent, such as a
tool call, before that takes effect, and observes, blocks or changes it. A guard
that cannot be asked is never a yes.`

// begin are the commands of a person's first minutes, in this order.
var begin = []struct{ command, what string }{
	{"hookd init", "make .acai/hooks in this folder"},
	{"hookd new guard.sh", "write a guard to it, from a template"},
	{"hookd try guard.sh", "see what the guard reads and answers"},
}

// firstScreen returns what hookd alone prints: what it is, and what to type next.
func firstScreen(p *show.Printer) string {
	var b strings.Builder
	row := func(command, what string) {
		fmt.Fprintf(&b, "  %s%s%s\n", p.In(show.Name, command), strings.Repeat(" ", 22-len(command)), what)
	}
	fmt.Fprintf(&b, "%s puts rules on AI agents that no agent can talk its way past.\n\n", p.In(show.Strong, "hookd"))
	b.WriteString(what + "\n\nBegin here:\n")
	for _, c := range begin {
		row(c.command, c.what)
	}
	b.WriteString("\nThen have the agent that you use run the same hooks:\n")
	row("hookd install AGENT", strings.Join(install.Names(), ", "))
	fmt.Fprintf(&b, "\nAll commands: %s\n", p.In(show.Name, "hookd --help"))
	return fit(b.String(), p.Width)
}
