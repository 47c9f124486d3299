package guest

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// MarkerVar is the variable by which hookd verify marks the hook call that it waits for.
const MarkerVar = "HOOKD_VERIFY"

// Marker is a random token for one use. It proves that a hook call of an agent reaches
// hookd: who verifies makes one and has the agent started with it, and the bridge leaves
// its mark. It changes no verdict.
type Marker struct {
	Token string

	file string
}

// Mark is what the bridge left.
type Mark struct {
	Agent, Event string
	Program      string // that ran
}

// markerLength is the length of a token in characters.
const markerLength = 32

// oldMarker is the age after which a marker that nobody removed is removed.
const oldMarker = time.Hour

// NewMarker makes a marker in the user's state. The caller removes it.
func NewMarker(stateDir string) (*Marker, error) {
	random := make([]byte, markerLength/2)
	if _, err := rand.Read(random); err != nil {
		return nil, err
	}
	dir := filepath.Join(stateDir, "verify")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	removeOldMarkers(dir)
	m := &Marker{Token: hex.EncodeToString(random)}
	m.file = filepath.Join(dir, m.Token)
	f, err := os.OpenFile(m.file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return m, f.Close()
}

func removeOldMarkers(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > oldMarker {
			_ = os.Remove(filepath.Join(dir, entry.Name()))
		}
	}
}

// Seen returns the mark once the bridge has left it.
func (m *Marker) Seen() (Mark, bool) {
	text, err := os.ReadFile(m.file)
	if err != nil || len(text) == 0 || text[len(text)-1] != '\n' {
		return Mark{}, false
	}
	fields := strings.SplitN(strings.TrimSuffix(string(text), "\n"), "\t", 3)
	if len(fields) != 3 {
		return Mark{}, false
	}
	return Mark{fields[0], fields[1], fields[2]}, true
}

// Remove takes the marker away: it cannot be used any more.
func (m *Marker) Remove() error {
	if err := os.Remove(m.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// LeaveMark leaves the mark of a hook call, if the token is that of a marker that waits
// for its first one.
func LeaveMark(stateDir, token string, mark Mark) error {
	if len(token) != markerLength || strings.Trim(token, "0123456789abcdef") != "" {
		return nil
	}
	file := filepath.Join(stateDir, "verify", token)
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() || info.Size() > 0 {
		return nil
	}
	line := strings.Join([]string{mark.Agent, mark.Event, strings.ReplaceAll(mark.Program, "\n", "?")}, "\t") + "\n"
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line)
	return errors.Join(err, f.Close())
}
