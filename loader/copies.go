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
	paths := make([]string, len(b.Members))
	for i, m := range b.Members {
		paths[i] = folder + "/" + m.Name
	}
	return lookAtEach(paths, (*lookedIn).lstat, func(i int, st fileStat) bool { return st == seen.files[i] })
}

// copyLook looks at private copies while the load goes on: this is half of what a
// load of many hooks waits for.
type copyLook struct {
	*side
	whole map[*trustRecord]*bool
}

// lookAtCopies begins to look at the copies of all hooks that a person allowed.
func (p *load) lookAtCopies() *copyLook {
	look := &copyLook{whole: map[*trustRecord]*bool{}}
	var allowed []*trustRecord
	for _, s := range p.projectScopes() {
		for i := range s.decisions.Hooks {
			if r := &s.decisions.Hooks[i]; !s.always && r.Decision == Allowed && !r.InPlace && !r.isMaterial() {
				allowed = append(allowed, r)
				look.whole[r] = new(bool)
			}
		}
	}
	look.side = beginSide(len(allowed), fewCopies, func(i int) {
		b := &allowed[i].Bundle
		*look.whole[allowed[i]] = p.store.intact(b) || p.store.verify(b) == nil
	})
	return look
}

// fewCopies are looked at before another processor could begin.
const fewCopies = 4

// noteCopies tells the hooks that are as they were allowed that their copy is
// whole. What is not is looked at again, for the words.
func (p *load) noteCopies(look *copyLook) {
	look.finish()
	for _, f := range p.hooks {
		if f.record != nil && f.bundle != nil && f.bundle.hash == f.record.Hash {
			whole := look.whole[f.record]
			f.copyWhole = whole != nil && *whole
		}
	}
}
