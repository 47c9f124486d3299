package record

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/go-json-experiment/json"
)

// missed are entries that no record holds: how many, and of which events.
type missed struct {
	Count int64    `json:"count"`
	IDs   []string `json:"ids"` // of the first of them
}

// maxMissedIDs is how many events are named; the others are only counted.
const maxMissedIDs = 100

func (m *missed) add(event string) {
	m.Count++
	if event != "" && len(m.IDs) < maxMissedIDs {
		m.IDs = append(m.IDs, event)
	}
}

// with returns what both missed.
func (m missed) with(other missed) missed {
	ids := append(slices.Clip(other.IDs), m.IDs...)
	return missed{m.Count + other.Count, ids[:min(len(ids), maxMissedIDs)]}
}

// missing is what a file's record does not hold.
type missing struct {
	dropped missed // by this process: entries that did not find room in the queue
	before  missed // by earlier processes, and told by no line yet
	looked  bool   // for what earlier processes missed
	left    bool   // leaveMissed wrote a file
}

// missedPath returns where a process that ends leaves what it could not record. It is
// another folder than that of the records, which may be the one that is in the way.
func missedPath(dir, name string) string {
	return filepath.Join(filepath.Dir(dir), "missed", name+".json")
}

const maxMissedSize = 64 << 10

// readMissed reads what an earlier process left, nothing if that cannot be read.
func readMissed(dir, name string) (m missed) {
	path := missedPath(dir, name)
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxMissedSize {
		return m
	}
	text, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(text, &m) != nil || m.Count < 1 || len(m.IDs) > maxMissedIDs {
		return missed{}
	}
	return m
}
