package installcmd

import (
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor/guest"
	"github.com/hookd-dev/hookd/loader/install"
)

// monitorFlags say whether hooks only watch for the agents.
type monitorFlags struct {
	on    bool
	until string
}

// end returns when a monitor ends, the zero value without one.
func (m *monitorFlags) end(now time.Time) (time.Time, error) {
	switch {
	case !m.on && m.until != "":
		return time.Time{}, cli.Usage("usage", "--until says when --monitor ends, and --monitor is not given", "")
	case !m.on:
		return time.Time{}, nil
	}
	if err := guest.NotBelowAgent(os.Environ()); err != nil {
		return time.Time{}, cli.Usage("below-an-agent", "hooks are not made to only watch below an agent: "+err.Error(), "run the command in a terminal of your own")
	}
	if m.until == "" {
		return now.Add(guest.DefaultMonitor), nil
	}
	until, ok := parseUntil(m.until, now)
	switch {
	case !ok:
		return time.Time{}, cli.Usage("bad-time", "--until: "+show.Line(m.until)+" is no time", "a day such as 2026-12-24, a time such as 2026-12-24T15:00:00Z, or how long: 3d, 12h")
	case !until.After(now):
		return time.Time{}, cli.Usage("bad-time", "--until: "+show.Line(m.until)+" is in the past", "")
	case until.Sub(now) > guest.LongestMonitor:
		return time.Time{}, cli.Usage("bad-time", "--until: "+show.Line(m.until)+" is more than a year away", "a monitor is for looking first; mode: audit of a hook has no end")
	}
	return until, nil
}

// parseUntil reads a day, to its end, a moment, or how long from now on.
func parseUntil(text string, now time.Time) (time.Time, bool) {
	if number, days := strings.CutSuffix(text, "d"); days {
		if n, err := strconv.ParseFloat(number, 64); err == nil && n > 0 && n < 10_000 {
			return now.Add(time.Duration(n * 24 * float64(time.Hour))), true
		}
	}
	if long, err := time.ParseDuration(text); err == nil {
		return now.Add(long), true
	}
	if day, err := time.ParseInLocation(time.DateOnly, text, now.Location()); err == nil {
		return day.AddDate(0, 0, 1), true
	}
	for _, layout := range []string{"2006-01-02 15:04", time.DateTime} {
		if at, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return at, true
		}
	}
	at, err := time.Parse(time.RFC3339, text)
	return at, err == nil
}

// setMonitor has hooks only watch for an agent until a time, or decide again.
func (cmd *Commands) setMonitor(state string, a *install.Agent, now, until time.Time) error {
	if until.IsZero() {
		was := guest.MonitorOf(state, a.Name, now).On()
		if err := guest.StopMonitor(state, a.Name); err != nil {
			return cli.Failed("monitor", err, "")
		}
		if was {
			cmd.Console.Out.Print("hooks decide for %s again\n", show.Line(a.Title))
		}
		return nil
	}
	if err := guest.StartMonitor(state, a.Name, now, until); err != nil {
		return cli.Failed("monitor", err, "")
	}
	cmd.Console.Out.Print("%s hooks only watch for %s until %s: hookd log --would shows what they would have refused\n",
		cmd.Console.Out.In(show.Warn, "!"), show.Line(a.Title), until.Local().Format("2006-01-02 15:04"))
	return nil
}
