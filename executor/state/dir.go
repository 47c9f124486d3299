package state

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
)

// Dir returns hookd's state folder, $XDG_STATE_HOME/hookd or else
// ~/.local/state/hookd, and creates it readable by its owner only. Without HOME
// the home folder is the one of the user database.
func Dir() (string, error) {
	base := os.Getenv("XDG_STATE_HOME")
	// The XDG rules say that a relative path is to be ignored.
	if !filepath.IsAbs(base) {
		home, err := homeDir()
		if err != nil {
			return "", fmt.Errorf("state folder: %w", err)
		}
		base = filepath.Join(home, ".local", "state")
	}
	dir := filepath.Join(base, "hookd")
	if err := privateDir(dir); err != nil {
		return "", fmt.Errorf("state folder: %w", err)
	}
	return dir, nil
}

func homeDir() (string, error) {
	if home, err := os.UserHomeDir(); err == nil && filepath.IsAbs(home) {
		return home, nil
	}
	u, err := user.Current()
	if err != nil {
		return "", err
	}
	if !filepath.IsAbs(u.HomeDir) {
		return "", errors.New("HOME is not set and the user database names no home folder")
	}
	return u.HomeDir, nil
}

// privateDir creates dir, or takes an existing one away from group and others.
func privateDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return os.Chmod(dir, 0o700)
	}
	return nil
}

// FileName returns the name under which a session is kept on disk: its id where
// that is a plain file name, else a name made of the id's hash. Ids come from
// hosts and may hold anything.
func FileName(session string) string {
	if plainName(session) {
		return session
	}
	sum := sha256.Sum256([]byte(session))
	return "~" + hex.EncodeToString(sum[:16])
}

// plainName reports whether a session id can be a file name as it is. A dot is
// not plain: it divides a session's name from what hookd appends.
func plainName(id string) bool {
	if id == "" || len(id) > 128 || id[0] == '-' || id[0] == '_' || looksLikeDate(id) {
		return false
	}
	for _, c := range []byte(id) {
		switch {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '-', c == '_':
		default:
			return false
		}
	}
	return true
}

// looksLikeDate keeps a session from taking the name of a day's file, where
// events without a session are recorded.
func looksLikeDate(id string) bool {
	return len(id) == len("2006-01-02") && id[4] == '-' && id[7] == '-'
}
