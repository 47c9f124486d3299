package hookcmd

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/loader/install"
	"github.com/hookd-dev/hookd/loader/install/verify"
	"github.com/hookd-dev/hookd/schema"
)

// checkState returns the folder of records, and a finding where nothing can be written
// to it: hooks decide all the same, and nothing is recorded or remembered.
func checkState() (dir string, findings []schema.Finding) {
	dir, err := executor.StateDir()
	for _, place := range []string{"", "records", "sessions", "conversations"} {
		place = filepath.Join(dir, place)
		if _, missing := os.Lstat(place); err == nil && missing == nil {
			err = tryWriting(place)
		}
	}
	if err == nil {
		return dir, nil
	}
	return dir, []schema.Finding{{
		Severity: schema.SeverityError, Code: string(loader.CodeStateFolder), File: dir,
		Message: "nothing is recorded, and what hooks remember is not kept: " + err.Error(),
		Remedy:  "make $XDG_STATE_HOME (or ~/.local/state) a folder that you can write to, with room left",
	}}
}

// tryWriting writes a file of a usual size and removes it.
func tryWriting(dir string) error {
	f, err := os.CreateTemp(dir, ".check-*")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, 4096))
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

// checkAgents returns what keeps other agents from running hookd where it is installed.
func (cmd *Commands) checkAgents(ctx context.Context, state, project string) ([]schema.Finding, error) {
	in, err := install.Here(state, project)
	if err != nil {
		return nil, nil // without a home nothing is installed
	}
	runtime, err := cmd.Processes.Start(false)
	if err != nil {
		return nil, err
	}
	v := verify.Verifier{Installer: in, State: state, Environ: os.Environ(), Run: runtime}
	return verify.Findings(v.Verify(ctx, nil)), nil
}

// monitorFindings are the agents for which hooks only watch.
func monitorFindings(state string) (findings []schema.Finding) {
	for _, text := range engine.MonitorTexts(state) {
		findings = append(findings, schema.NewFinding(schema.Pos{}, "", schema.SeverityWarning, install.CodeMonitored, text, engine.MonitorRemedy()))
	}
	return findings
}

// noteMonitors says for which agents hooks only watch.
func (cmd *Commands) noteMonitors() {
	state, err := executor.StateDir()
	if err != nil {
		return
	}
	for _, text := range engine.MonitorTexts(state) {
		cmd.Console.Note(text, engine.MonitorRemedy())
	}
}
