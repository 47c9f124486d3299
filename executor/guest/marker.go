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
// hookd: who verifies makes one and has the agent started with it. The first call that has
// it takes it ([TakeMarker]), adds a line to the record, and leaves its mark. It changes no
// verdict.
type Marker struct {
	Token string

	file string
}

// Mark is what the first call left.
type Mark struct {
	Agent, Event string
	Program      string // that answered
	Daemon       bool   // it is a daemon, which a messenger has asked
}

// markerLength is the length of a token in characters.
const markerLength = 32

// oldMarker is the age after which a marker that nobody removed is removed.
const oldMarker = time.Hour

// taken is the end of the name of a marker that a call has taken.
const taken = ".taken"

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

// Seen returns the mark once a call has left it.
func (m *Marker) Seen() (Mark, bool) {
	text, err := os.ReadFile(m.file + taken)
	if err != nil || len(text) == 0 || text[len(text)-1] != '\n' {
		return Mark{}, false
	}
	fields := strings.SplitN(strings.TrimSuffix(string(text), "\n"), "\t", 4)
	if len(fields) != 4 {
		return Mark{}, false
	}
	return Mark{Agent: fields[1], Event: fields[2], Program: fields[3], Daemon: fields[0] == byDaemon}, true
}

// Who answered a call.
const (
	byDaemon = "daemon"
	byItself = "alone"
)

// Remove takes the marker away: it cannot be used any more.
func (m *Marker) Remove() error {
	var errs []error
	for _, file := range []string{m.file, m.file + taken} {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// TakenMarker is a marker that belongs to one call. The nil one is none.
type TakenMarker struct {
	token string
	file  string
}

// TakeMarker takes the marker that an environment names, for the call that runs with it. It
// returns nil if there is none, or another call has taken it.
func TakeMarker(stateDir string, environ []string) *TakenMarker {
	token := ""
	for _, variable := range environ {
		if value, ok := strings.CutPrefix(variable, MarkerVar+"="); ok {
			token = value
			break
		}
	}
	if len(token) != markerLength || strings.Trim(token, "0123456789abcdef") != "" || stateDir == "" {
		return nil
	}
	file := filepath.Join(stateDir, "verify", token)
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	if os.Rename(file, file+taken) != nil {
		return nil
	}
	return &TakenMarker{token, file + taken}
}

// Token returns the token for the record, "" of none.
func (t *TakenMarker) Token() string {
	if t == nil {
		return ""
	}
	return t.token
}

// Leave leaves the mark of the call that took the marker.
func (t *TakenMarker) Leave(mark Mark) error {
	if t == nil {
		return nil
	}
	by := byItself
	if mark.Daemon {
		by = byDaemon
	}
	f, err := os.OpenFile(t.file, os.O_WRONLY|os.O_TRUNC, 0) // not made again: nobody waits for it then
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	line := strings.NewReplacer("\n", "?", "\x00", "?").Replace(strings.Join([]string{by, mark.Agent, mark.Event, mark.Program}, "\t")) + "\n"
	_, err = f.WriteString(line)
	return errors.Join(err, f.Close())
}
