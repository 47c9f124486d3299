package guest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/internal/fsutil"
)

// Monitor says that hooks only watch for an agent. The zero value: they decide.
type Monitor struct {
	Agent string    `json:"agent"`
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
}

// On reports whether it is a monitor at all.
func (m Monitor) On() bool { return m.Agent != "" }

const (
	// DefaultMonitor is how long hooks only watch if nothing else is said.
	DefaultMonitor = 7 * 24 * time.Hour
	// LongestMonitor is the longest time for which they may.
	LongestMonitor = 366 * 24 * time.Hour
)

// monitorFile is the file of all monitors, in the user's state.
type monitorFile struct {
	Version  int       `json:"v"`
	Monitors []Monitor `json:"monitors"`
}

func monitorPath(stateDir string) string { return filepath.Join(stateDir, "monitor.json") }

// Monitors returns the monitors that are on at a time. A file that cannot be read holds
// none, and is an error: hooks decide.
func Monitors(stateDir string, now time.Time) ([]Monitor, error) {
	path := monitorPath(stateDir)
	text, err := readSmall(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var f monitorFile
	if err := json.Unmarshal(text, &f); err != nil || f.Version != 1 {
		return nil, fmt.Errorf("%s cannot be read, so that no agent is monitored: remove it", path)
	}
	return slices.DeleteFunc(f.Monitors, func(m Monitor) bool {
		return m.Agent == "" || !now.Before(m.Until) || now.Before(m.Since.Add(-time.Hour)) || m.Until.Sub(m.Since) > LongestMonitor
	}), nil
}

// mostState is the size of a file of state that is read.
const mostState = 64 << 10

// readSmall reads a plain file that only its owner can write.
func readSmall(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > mostState:
		return nil, fmt.Errorf("%s is no plain file of hookd's", path)
	case !isOwn(info) || !isOwnFolder(filepath.Dir(path)):
		return nil, fmt.Errorf("%s belongs to another user, so that it does not count: remove it", path)
	case info.Mode().Perm()&0o022 != 0:
		return nil, fmt.Errorf("%s can be written by others, so that it does not count: remove it", path)
	}
	return os.ReadFile(path)
}

// MonitorOf returns the monitor of an agent that is on at a time.
func MonitorOf(stateDir, agent string, now time.Time) Monitor {
	monitors, _ := Monitors(stateDir, now)
	for _, m := range monitors {
		if m.Agent == agent {
			return m
		}
	}
	return Monitor{}
}

// StartMonitor has hooks only watch for an agent until a time. It must be a person's word:
// the caller checks that.
func StartMonitor(stateDir, agent string, now, until time.Time) error {
	switch {
	case !until.After(now):
		return fmt.Errorf("the end of the monitor, %s, is in the past", until.Format(time.DateTime))
	case until.Sub(now) > LongestMonitor:
		return fmt.Errorf("the end of the monitor, %s, is more than a year away", until.Format(time.DateOnly))
	}
	return changeMonitors(stateDir, now, func(list []Monitor) []Monitor {
		return append(without(list, agent), Monitor{agent, now.UTC().Truncate(time.Second), until.UTC().Truncate(time.Second)})
	})
}

// StopMonitor has hooks decide for an agent again.
func StopMonitor(stateDir, agent string) error {
	return changeMonitors(stateDir, time.Now(), func(list []Monitor) []Monitor { return without(list, agent) })
}

func without(list []Monitor, agent string) []Monitor {
	return slices.DeleteFunc(list, func(m Monitor) bool { return m.Agent == agent })
}

func changeMonitors(stateDir string, now time.Time, change func([]Monitor) []Monitor) error {
	monitors, err := Monitors(stateDir, now)
	if err != nil {
		monitors = nil // what counts for nothing is written anew
	}
	monitors = change(monitors)
	if len(monitors) == 0 {
		if err := os.Remove(monitorPath(stateDir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	text, err := json.Marshal(monitorFile{1, monitors})
	if err != nil {
		return err
	}
	return fsutil.ReplaceFile(monitorPath(stateDir), append(text, '\n'), fsutil.Synced)
}
