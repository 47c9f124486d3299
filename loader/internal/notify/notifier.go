package notify

import (
	"errors"
	"sync"
	"syscall"

	"github.com/fsnotify/fsnotify"
	"github.com/hookd-dev/hookd/loader/internal/files"
)

// A Notifier says that something happened in the watched folders, not what.
type Notifier interface {
	// Events has an item whenever something may have changed; several changes
	// may come as one.
	Events() <-chan struct{}
	// Watch replaces the set of watched folders. Those that are not there are
	// left out. It reports whether it did not watch one of them before: what
	// changed there until now made no event. An error means that this way of
	// watching is of no use here.
	Watch(folders []string) (news bool, err error)
	Close()
}

// systemWatch is the notifier of the operating system.
type systemWatch struct {
	watcher *fsnotify.Watcher
	events  chan struct{}
	done    sync.WaitGroup
	watched map[string]files.Info // folder → what was watched under that name
}

func New() (Notifier, error) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	s := &systemWatch{watcher: watcher, events: make(chan struct{}, 1), watched: map[string]files.Info{}}
	s.done.Go(s.drain)
	return s, nil
}

// drain takes everything off the watcher at once, so that its queue never runs
// over. An error (an overflow, too) may mean lost events and counts as one.
func (s *systemWatch) drain() {
	for {
		select {
		case _, ok := <-s.watcher.Events:
			if !ok {
				return
			}
		case _, ok := <-s.watcher.Errors:
			if !ok {
				return
			}
		}
		select {
		case s.events <- struct{}{}:
		default:
		}
	}
}

func (s *systemWatch) Events() <-chan struct{} { return s.events }

// Watch also renews the watch of a folder that was replaced: the system watches
// the folder that once had the name.
func (s *systemWatch) Watch(folders []string) (news bool, err error) {
	wanted := map[string]bool{}
	for _, folder := range folders {
		wanted[folder] = true
		st, err := files.Stat(folder)
		if err != nil {
			news = true
			continue
		}
		before, known := s.watched[folder]
		if known && before.Dev == st.Dev && before.Ino == st.Ino && st.Ino != 0 {
			continue
		}
		if known {
			_ = s.watcher.Remove(folder) // it may be gone already
		}
		news = true
		if err := s.watcher.Add(folder); err != nil {
			if usedUp(err) {
				return true, err
			}
			delete(s.watched, folder)
			continue // it vanished meanwhile, or cannot be read: the slow tick looks after it
		}
		s.watched[folder] = st
	}
	for folder := range s.watched {
		if !wanted[folder] {
			_ = s.watcher.Remove(folder)
			delete(s.watched, folder)
		}
	}
	return news, nil
}

func (s *systemWatch) Close() {
	_ = s.watcher.Close()
	s.done.Wait()
}

// usedUp reports errors that mean there are no more watches left.
func usedUp(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}

// Polling is the notifier for when there are no watches: it never says anything,
// and the watcher looks by the clock.
type Polling struct{}

func (Polling) Events() <-chan struct{}      { return nil }
func (Polling) Watch([]string) (bool, error) { return false, nil }
func (Polling) Close()                       {}
