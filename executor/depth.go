package executor

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/hookd-dev/hookd/executor/process"
)

// ProcessDepth is how many hooks and tools are above this process, one started by
// the other: 0 for one that a person started. HOOK_DEPTH says so, of this process or
// of one above it; so do the hookds above it, and the control groups that it is in.
// The deepest counts, so shedding one of them gains nothing. Only starts of hooks
// and tools count, not that an agent's own command is hookd.
var ProcessDepth = sync.OnceValue(func() int { return depthOf(os.Environ(), process.Ancestors(), process.Cells()) })

func depthOf(environ []string, above []process.Ancestor, cells int) int {
	depth := 0
	for _, a := range slices.Backward(above) {
		depth = max(depth, Depth(a.Environ))
		if a.Starts {
			depth = min(depth+1, unreadableDepth)
		}
	}
	return max(depth, Depth(environ), cells)
}

// Depth returns how many agents above this process were started by a hook or a
// tool, as an environment says: 0 for one that a person started. A value that is no
// number counts as deeper than any limit, so that breaking it at each level gains
// nothing.
func Depth(environ []string) int {
	for _, variable := range environ {
		if value, ok := strings.CutPrefix(variable, EnvDepth+"="); ok {
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

// Marked reports whether an environment is one that hookd gives to a hook, a tool or
// a server, in whole or in part.
func Marked(environ []string) bool {
	return Depth(environ) > 0 || slices.ContainsFunc(environ, func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return name == EnvAction || name == EnvFile || name == process.RunTag
	})
}
