package store

import "github.com/hookd-dev/hookd/protocol"

// Unkept returns a session that no file keeps, where there is no place for one: what is
// appended to it is gone when it is closed.
func Unkept(header Header) *Session {
	header.Kind, header.Version = "session", Version
	if header.ID == "" {
		header.ID = protocol.NewID()
	}
	return &Session{header: header, unkept: true}
}

// Kept reports whether all that was appended so far is in the session's file.
func (s *Session) Kept() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.unkept
}

// GoOn lets the session's work go on when a write fails: lost is told the error, once,
// and nothing more is written. Without it [Session.Append] fails from then on.
func (s *Session) GoOn(lost func(error)) { s.lost = lost }

// giveUp makes the session an unkept one after a write failed, and reports whether it
// may go on so.
func (s *Session) giveUp(err error) bool {
	if s.lost == nil {
		return false
	}
	s.unkept = true
	s.lost(err)
	return true
}
