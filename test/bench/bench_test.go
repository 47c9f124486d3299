//go:build unix

package main

import (
	"context"
	"testing"
)

// TestOneContest holds a contest as short as can be, so that the benchmark does
// not rot between its runs.
func TestOneContest(t *testing.T) {
	o, err := parse([]string{"-pace", "smoke", "-run", "^plain/sh/1KiB$"})
	if err != nil {
		t.Fatal(err)
	}
	if err := run(context.Background(), o); err != nil {
		t.Error(err)
	}
}
