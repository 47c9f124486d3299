package chat

import (
	"fmt"
	"strings"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
)

// command carries out a line that begins with a slash. One that is no command
// is a prompt, since skills are called so; one that is nearly one is neither.
func (c *chat) command(text string) (effects []effect, isCommand bool) {
	name, args, _ := strings.Cut(text, " ")
	if !strings.HasPrefix(name, "/") || strings.Contains(text, "\n") {
		return nil, false
	}
	name, args = name[1:], strings.TrimSpace(args)
	switch name {
	case "quit", "exit":
		return c.quit(), true
	case "show":
		c.show(args)
		return nil, true
	case "hooks", "help", "sessions":
		return []effect{commandEffect{name, args}}, true
	case "compact", "model", "trust":
		if c.running {
			c.aside(c.run.P.In(show.Warn, "!") + " /" + name + " is for when no turn runs")
			return nil, true
		}
		if name == "compact" {
			c.start()
		}
		return []effect{commandEffect{name, args}}, true
	}
	if near := nearCommand(name); near != "" {
		c.aside(fmt.Sprintf("%s there is no /%s; did you mean /%s? (/help lists all)", c.run.P.In(show.Warn, "!"), show.Line(name), near))
		return nil, true
	}
	return nil, false
}

// show prints what is folded behind a number; "" is the last.
func (c *chat) show(which string) {
	details := c.run.Details
	n := len(details)
	if which != "" {
		if _, err := fmt.Sscanf(strings.TrimPrefix(which, "#"), "%d", &n); err != nil {
			n = -1
		}
	}
	if n < 1 || n > len(details) || details[n-1].Body == "" && details[n-1].Title == "" {
		c.aside(c.run.P.In(show.Warn, "!") + " nothing is folded behind #" + show.Line(which))
		return
	}
	d := details[n-1]
	c.aside(strings.TrimRight(c.run.P.In(show.Quiet, fmt.Sprintf("#%d ", n))+c.run.P.In(show.Strong, d.Title)+"\n"+d.Body, "\n"))
}
