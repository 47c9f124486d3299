package hookenv

import (
	"testing"

	"github.com/hookd-dev/hookd/executor/process"
)

// TestDepthOf: the deepest of what variable, marks, hookds above and control groups
// say is what counts. The nearest process comes first.
func TestDepthOf(t *testing.T) {
	type list = []process.Ancestor
	shell := process.Ancestor{Environ: []string{"PATH=/bin"}}
	hidden := process.Ancestor{}
	hook := process.Ancestor{Environ: []string{"HOOK_DEPTH=1"}}
	starts := process.Ancestor{Runs: true, Starts: true}
	passes := process.Ancestor{Runs: true}
	for name, test := range map[string]struct {
		environ []string
		above   list
		cells   int
		want    int
	}{
		"a person's":                         {nil, list{shell, hidden}, 0, 0},
		"a hook's variable":                  {[]string{"HOOK_DEPTH=1"}, list{shell, starts, shell}, 0, 1},
		"the variable is unset":              {nil, list{shell, starts, shell}, 0, 1},
		"the variable says less":             {[]string{"HOOK_DEPTH=0"}, list{starts, shell, starts}, 0, 2},
		"the variable says more":             {[]string{"HOOK_DEPTH=3"}, list{starts}, 0, 3},
		"a mark above":                       {nil, list{shell, hook, shell}, 0, 1},
		"a mark above, and a start below it": {nil, list{starts, hook, hidden}, 0, 2},
		"a mark of the same start":           {nil, list{hook, starts}, 0, 1},
		"hookd in between starts no hook":    {nil, list{passes, shell, passes}, 0, 0},
		"nothing but control groups":         {nil, list{shell}, 2, 2},
		"a broken value":                     {nil, list{starts, {Environ: []string{"HOOK_DEPTH=x"}}}, 0, unreadableDepth},
	} {
		if got := depthOf(test.environ, test.above, test.cells); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}

func BenchmarkProcessDepth(b *testing.B) {
	for b.Loop() {
		depthOf(nil, process.Ancestors(), process.CgroupDepth())
	}
}
