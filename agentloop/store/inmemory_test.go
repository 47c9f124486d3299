package store_test

import (
	"testing"

	"github.com/hookd-dev/hookd/agentloop/store"
)

// A session without a file takes all that one with a file takes.
func TestInMemory(t *testing.T) {
	s := store.InMemory(store.Header{Project: "/p", Model: "m"})
	if s.ID() == "" || s.Path() != "" || s.IsWritten() {
		t.Errorf("id %q, path %q, written %v", s.ID(), s.Path(), s.IsWritten())
	}
	if err := s.Append(store.Entry{Kind: store.Model, Text: "other"}); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
