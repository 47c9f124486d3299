package loader

import (
	"path/filepath"
	"sync"
	"time"
)

// copies remembers, within this process, which private copies were seen to be
// whole, by the stat of the folder and of each file. No process believes another
// one about them: what is executed was hashed by the process that runs it.
type copies struct {
	mu   sync.Mutex
	seen map[string]seenCopy // by the bundle's hash
}

type seenCopy struct {
	folders map[string]fileStat // by name below the copy's folder, "." included
	files   []fileStat          // as the bundle's members
	at      time.Time           // when the look began
}

func newCopies() *copies { return &copies{seen: map[string]seenCopy{}} }

func (c *copies) note(hash string, seen seenCopy) {
	for _, st := range seen.folders {
		if !st.settled(seen.at) {
			return
		}
	}
	for _, st := range seen.files {
		if !st.settled(seen.at) {
			return
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[hash] = seen
}

// same reports whether a copy was seen to be whole and cannot have changed.
func (c *copies) same(folder string, b *bundle) bool {
	c.mu.Lock()
	seen, ok := c.seen[b.hash]
	c.mu.Unlock()
	if !ok || len(seen.files) != len(b.Members) {
		return false
	}
	for name, was := range seen.folders {
		if st, err := lstat(filepath.Join(folder, name)); err != nil || st != was {
			return false
		}
	}
	for i, m := range b.Members {
		if st, err := lstat(folder + "/" + m.Name); err != nil || st != seen.files[i] {
			return false
		}
	}
	return true
}

// checkCopies looks at the copies of all hooks that are as they were allowed,
// side by side: this is most of what a load of many hooks waits for.
func (p *load) checkCopies() {
	var allowed []*found
	for _, f := range p.hooks {
		if f.record != nil && f.bundle != nil && f.bundle.hash == f.record.Hash && !f.resolution.Hook.InPlace {
			allowed = append(allowed, f)
		}
	}
	sideBySide(len(allowed), fewCopies, func(i int) {
		f := allowed[i]
		f.copyWhole = p.store.intact(f.bundle) || p.store.verify(f.bundle) == nil // what is not is looked at again, for the words
	})
}

// fewCopies are looked at before another processor could begin.
const fewCopies = 4
