//go:build unix

package process

import (
	"testing"
	"time"
)

// Who starts for each event, and mostly for one that no hook wants, prepares for
// what programs need only when there is one.
func TestStartingComesBeforeTheFirstProgram(t *testing.T) {
	called := 0
	rt := newRuntime(t, Options{Starting: func() { called++ }})
	if called != 0 {
		t.Fatal("it was called before a program was to run")
	}
	if r := rt.Run(within(t, 10*time.Second), shell("exit 0")); r.Err != nil {
		t.Fatal(r.Err)
	}
	if called == 0 {
		t.Error("a program ran, and it was not called")
	}
}
