package main

import (
	"os"
	"testing"
)

// Where /proc does not say which program runs, the kernel does.
func TestStartedAs(t *testing.T) {
	want, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := startedAs(); got != want || err != nil {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}
