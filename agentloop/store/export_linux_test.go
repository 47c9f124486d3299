package store

import (
	"os"
	"testing"
)

// Fill puts a full disk in the place of the session's file.
func Fill(t *testing.T, s *Session) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	s.file.Close()
	s.file = full
}
