package hookcmd

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/loader"
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
