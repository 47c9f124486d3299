package agentloop

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookd-dev/hookd/agentloop/builtin"
	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/protocol"
)

// A provider takes the place of the default one of its name, and the other defaults stay.
func TestProvidersComeOnTopOfTheDefaults(t *testing.T) {
	own := Provider{Name: "mine"}
	for name, c := range map[string]struct {
		options Options
		want    string
	}{
		"none given":      {Options{}, "steps tokens time retries done"},
		"one more":        {Options{Providers: []Provider{own}}, "steps tokens time retries done mine"},
		"one replaced":    {Options{Providers: []Provider{builtin.Time(time.Hour), own}}, "steps tokens retries done time mine"},
		"one given twice": {Options{Providers: []Provider{builtin.Time(time.Hour), builtin.Time(time.Minute)}}, "steps tokens retries done time time"},
		"no defaults":     {Options{NoDefaults: true, Providers: []Provider{own}}, "mine"},
		"nothing at all":  {Options{NoDefaults: true}, ""},
	} {
		var names []string
		for _, p := range c.options.providers() {
			names = append(names, p.Name)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// A loop without a gate has the limits of its providers all the same.
func TestLimitsWithoutAGate(t *testing.T) {
	for name, c := range map[string]struct {
		script    string
		providers []Provider
		noDefault bool
		want      string
	}{
		"time":            {"turns: [{hang: true}]", nil, false, "time"},
		"tokens":          {usages("20000", "12768", "1"), nil, false, "tokens"},
		"steps":           {answers(30, true), []Provider{builtin.Steps(3)}, false, "steps"},
		"no limit at all": {"turns: [{text: slow, delay: 1000s}]", nil, true, "done"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				scripted, err := model.Parse("script.yaml", []byte(c.script))
				if err != nil {
					t.Fatal(err)
				}
				loop, err := New(Options{Model: scripted, Providers: c.providers, NoDefaults: c.noDefault})
				if err != nil {
					t.Fatal(err)
				}
				run, err := loop.Run(t.Context(), "go!")
				if err != nil {
					t.Fatal(err)
				}
				events := 0
				for y := range run.Events() {
					if y.Kind == UpdateEvent && y.Event.Event == protocol.AgentEnd {
						events++
					}
				}
				if err := run.Wait(); err != nil || run.Result().StopReason != c.want || events != 1 {
					t.Errorf("ended with %s after %d agent-end: %v", run.Result().StopReason, events, err)
				}
			})
		})
	}
}
