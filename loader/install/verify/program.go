package verify

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/hookd-dev/hookd/internal/program"
)

// replacedProgram finds entries whose program is another one than was installed, and a
// record of it that is out of date: the messenger then works without a daemon.
func replacedProgram(s *subject) (found []finding) {
	record, err := program.Read(s.verifier.State)
	switch {
	case errors.Is(err, program.ErrNone):
		return nil // it was installed by hand
	case err != nil:
		return []finding{s.fault(program.Path(s.verifier.State), 0, s.again(), "which hookd was installed cannot be read: %v", err)}
	}
	seen := map[string]bool{}
	for _, e := range s.installed.Entries {
		path := e.Command.Program
		if seen[path] || !filepath.IsAbs(path) {
			continue
		}
		seen[path] = true
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			continue // entries says so
		}
		if isMessenger(real) && filepath.Dir(real) == filepath.Dir(record.Path) {
			continue
		}
		sum, err := hashOf(real)
		switch {
		case err != nil:
			found = append(found, s.fault(path, 0, "make it readable for you", "%s cannot be read, so that nobody can say what it is: %v", path, err))
		case sum == record.Hash:
		case real == record.Path:
			found = append(found, s.fault(path, 0, "if it is a new version that you put there, run "+s.again(), "%s is not the program that was installed: it has another hash", path))
		default:
			found = append(found, s.fault(path, 0, s.again(), "%s starts %s, which is not the program that was installed (%s)", s.agent.Title, path, record.Path))
		}
	}
	if sum, err := hashOf(record.Path); err != nil {
		found = append(found, s.fault(record.Path, 0, s.again(), "the record of the installed hookd is stale: %s is gone", record.Path))
	} else if sum != record.Hash && len(found) == 0 {
		found = append(found, s.fault(record.Path, 0, s.again(), "the record of the installed hookd is stale: %s has another hash, so that no daemon is believed", record.Path))
	}
	return found
}

// recorded reports whether the person has installed a hookd: then an entry that starts
// another one is a fault.
func (s *subject) recorded() bool {
	_, err := program.Read(s.verifier.State)
	return err == nil
}

// isMessenger reports whether a program is hookd-bridge.
func isMessenger(path string) bool {
	base := filepath.Base(path)
	return base == "hookd-bridge" || base == "hookd-bridge.exe"
}

func hashOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
