package record

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/internal/fsutil"
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
	lost   missed // by this process: entries that did not find room in the queue
	before missed // by earlier processes, and told by no line yet
	looked bool   // for what earlier processes missed
	left   bool   // leaveMissed wrote a file
}

// missedPath is where a process that ends leaves what it could not record. It is
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

// missedBefore returns what earlier processes left. The first line that is written
// tells it.
func (f *file) missedBefore() missed {
	if !f.missing.looked {
		f.missing.looked, f.missing.before = true, readMissed(f.dir, f.name)
	}
	return f.missing.before
}

// leaveMissed writes down what this process could not record, for the next one that
// can. Where not even that can be written, it is lost without a trace.
func (f *file) leaveMissed() {
	all := f.missing.lost
	for i := range f.queue.entries {
		all.add(f.queue.entries[i].event)
	}
	all = all.with(f.missedBefore())
	text, err := json.Marshal(all)
	if err != nil {
		return
	}
	path := missedPath(f.dir, f.name)
	if os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return
	}
	f.missing.left = fsutil.ReplaceFile(path, text, fsutil.Unsynced) == nil
}
