package process

import (
	"os"
	"regexp"
	"sync"
)

// cellPath is the path of a control group that a Runtime made, in a line of
// /proc/PID/cgroup.
var cellPath = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^0::.*/` + regexp.QuoteMeta(cgroupPrefix) + `\d+\.\d+\.\d+/`)
})

// Contained reports whether this process was started by a Runtime, of whatever
// process, that holds its programs in control groups. Neither leaving the parent
// nor clearing the environment changes that.
func Contained() bool {
	lines, err := os.ReadFile("/proc/self/cgroup")
	return err == nil && cellPath().Match(lines)
}
