package engine

import (
	"fmt"
	"time"

	"github.com/hookd-dev/hookd/executor/guest"
	"github.com/hookd-dev/hookd/protocol/dialect/hosts"
)

// MonitorTexts says for which agents hooks only watch, a line each, and what cannot be
// read of it.
func MonitorTexts(stateDir string) (texts []string) {
	if stateDir == "" {
		return nil
	}
	monitors, err := guest.Monitors(stateDir, time.Now())
	if err != nil {
		texts = append(texts, err.Error())
	}
	for _, m := range monitors {
		title := m.Agent
		if agent := hosts.Find(m.Agent); agent != nil {
			title = agent.Title
		}
		texts = append(texts, fmt.Sprintf("hooks only watch for %s until %s", title, m.Until.Local().Format("2006-01-02 15:04")))
	}
	return texts
}

// MonitorRemedy goes with each of them.
func MonitorRemedy() string {
	return "hookd log --would shows what would have been refused; hookd install AGENT ends it"
}
