package store

import "github.com/hookd-dev/hookd/protocol"

// InMemory returns a session that is written to no file, for when there is no place for
// one. Its entries are lost when it is closed.
func InMemory(header Header) *Session {
	header.Kind, header.Version = "session", Version
	if header.ID == "" {
		header.ID = protocol.NewID()
	}
	return &Session{header: header, inMemory: true}
}

// IsWritten reports whether all entries so far are in the session's file.
func (s *Session) IsWritten() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.inMemory
}

// OnWriteError lets the session's work go on when a write fails: lost is called once with
// the error, and nothing more is written. Without it [Session.Append] fails from then on.
func (s *Session) OnWriteError(lost func(error)) { s.lost = lost }

// giveUp keeps the session in memory only after a write failed, and reports whether it may
// go on so.
func (s *Session) giveUp(err error) bool {
	if s.lost == nil {
		return false
	}
	s.inMemory = true
	s.lost(err)
	return true
}
