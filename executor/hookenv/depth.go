package hookenv

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/hookd-dev/hookd/executor/process"
)

// ProcessDepth returns how many hooks and tools stand above this process, one
// started by the other: 0 for a process that a person started. It is read from
// HOOK_DEPTH of this process and of those above it, from the hookds above it, and
// from the control groups that it is in. The deepest counts, so that shedding one of
// them gains nothing. Only starts of hooks and tools count; that an agent's own
// command is hookd does not.
var ProcessDepth = sync.OnceValue(func() int { return depthOf(os.Environ(), process.Ancestors(), process.CgroupDepth()) })

// Depths counts for other processes, one after the other.
type Depths struct{ above *process.Ancestry }

// NewDepths returns one that has counted for nobody.
func NewDepths() *Depths { return &Depths{process.NewAncestry(VarDepth)} }

// Of returns how many hooks and tools stand above another process, which was started with
// an environment: what [ProcessDepth] is in there. The error says that not all of what
// stands above it could be seen.
func (d *Depths) Of(pid int, environ []string) (int, error) {
	above, err := d.above.Of(pid)
	return depthOf(environ, above, process.CgroupDepthOf(pid)), err
}

func depthOf(environ []string, above []process.Ancestor, cgroups int) int {
	depth := 0
	for _, a := range slices.Backward(above) {
		depth = max(depth, depthIn(a.Environ))
		if a.Starts {
			depth = min(depth+1, unreadableDepth)
		}
	}
	return max(depth, depthIn(environ), cgroups)
}

// depthIn returns the HOOK_DEPTH of an environment, 0 where it has none. A value
// that is no number counts as deeper than any limit, so that breaking it at each
// level gains nothing.
func depthIn(environ []string) int {
	for _, variable := range environ {
		if value, ok := strings.CutPrefix(variable, VarDepth+"="); ok {
			depth, err := strconv.Atoi(value)
			if err != nil || depth < 0 {
				return unreadableDepth
			}
			return min(depth, unreadableDepth)
		}
	}
	return 0
}

// unreadableDepth leaves room to count on.
const unreadableDepth = 1 << 30

// FromHookd reports whether an environment is one that hookd gives to a hook, a tool
// or a server, in whole or in part.
func FromHookd(environ []string) bool {
	return depthIn(environ) > 0 || slices.ContainsFunc(environ, func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return name == VarAction || name == VarFile || name == process.RunTag
	})
}
