package store_test

import (
	"testing"

	"github.com/hookd-dev/hookd/agentloop/store"
)

// A session that no file keeps takes all that a kept one takes.
func TestUnkept(t *testing.T) {
	s := store.Unkept(store.Header{Project: "/p", Model: "m"})
	if s.ID() == "" || s.Path() != "" || s.Kept() {
		t.Errorf("id %q, path %q, kept %v", s.ID(), s.Path(), s.Kept())
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
