package engine

import (
	"runtime/debug"
	"testing"
)

// Memory is collected less often, unless who starts hookd says how often.
func TestCollectLess(t *testing.T) {
	was := debug.SetGCPercent(50)
	t.Cleanup(func() { debug.SetGCPercent(was) })
	t.Setenv("GOGC", "50")
	CollectLess()
	if got := debug.SetGCPercent(50); got != 50 {
		t.Errorf("%d against the environment", got)
	}
	t.Setenv("GOGC", "")
	CollectLess()
	if got := debug.SetGCPercent(50); got <= 100 {
		t.Errorf("%d, Go's own is 100", got)
	}
}
