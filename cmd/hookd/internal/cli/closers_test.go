package cli

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
)

// TestWhatIsLostIsAnError asserts that what cannot be kept is the command's error,
// and that all else that does not end well is told.
func TestWhatIsLostIsAnError(t *testing.T) {
	var printed bytes.Buffer
	console, closers := &Console{Err: &show.Printer{W: &printed}}, &Closers{}
	gone := errors.New("the record is gone")
	closers.Add(func() error { return DataLossError{Err: gone} })
	closers.Add(func() error { return errors.New("a process would not end") })
	if err := closers.Close(console); !errors.Is(err, gone) {
		t.Errorf("the loss is %v", err)
	}
	if got := printed.String(); !strings.Contains(got, "a process would not end") || strings.Contains(got, "the record is gone") {
		t.Errorf("told: %s", got)
	}
}
