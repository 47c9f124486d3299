package store_test

import (
	"os"
	"testing"

	"github.com/hookd-dev/hookd/agentloop/store"
)

// A disk that is full in the middle of a conversation does not end it: it is reported once.
func TestOnWriteError(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("a full disk is played by /dev/full, which this system does not have")
	}
	for name, goOn := range map[string]bool{"goes on": true, "does not": false} {
		t.Run(name, func(t *testing.T) {
			s, err := store.Create(t.TempDir(), "", store.Header{})
			if err != nil {
				t.Fatal(err)
			}
			told := 0
			if goOn {
				s.OnWriteError(func(error) { told++ })
			}
			store.Fill(t, s)
			for range 3 {
				if err := s.Append(store.Entry{Kind: store.Model, Text: "m"}); (err == nil) != goOn {
					t.Errorf("append: %v", err)
				}
			}
			if told > 1 || goOn && told != 1 {
				t.Errorf("told %d times", told)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
