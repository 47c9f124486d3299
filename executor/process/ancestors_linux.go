package process

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Ancestor is a process above this one.
type Ancestor struct {
	Pid     int
	Runs    bool     // it is hookd, or what hookd starts programs by
	Starts  bool     // and what came from it on the way here is a program that it ran
	Environ []string // that it was started with; nil where that is not shown to us
}

// mostAncestors bounds a walk that a table in motion could lead in a circle.
const mostAncestors = 1000

// Ancestors lists the processes above this one, the nearest first. What lost its
// parent has the process that took it in: the Runtime that it came from, or the first
// process. Numbers are those of the /proc at hand, which may be of an outer
// namespace.
func Ancestors() []Ancestor {
	self, err := os.Readlink("/proc/self")
	if err != nil {
		return nil
	}
	pid, _ := strconv.Atoi(self)
	return AncestorsOf(pid)
}

// AncestorsOf lists the processes above another one in the same way.
func AncestorsOf(pid int) []Ancestor {
	below, ok := readEntry(pid)
	var list []Ancestor
	for ok && below.parent > 0 && len(list) < mostAncestors {
		var above entry
		if above, ok = readEntry(below.parent); !ok {
			break
		}
		a := Ancestor{Pid: above.pid, Environ: environOf(above.pid)}
		a.Runs = above.name == programName || ourProgram(above.pid)
		// A program begins a session of its own, and never comes back into ours. The
		// first process of its namespace stands in between, for hookd.
		a.Starts = a.Runs && below.session != above.session
		list = append(list, a)
		below = above
	}
	return list
}

func environOf(pid int) []string {
	text, err := readEnviron("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil || len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
}

// ourProgram reports whether another process runs the executable that we are: a
// program that is not hookd may have a Runtime, too.
func ourProgram(pid int) bool {
	theirs, err := os.Stat("/proc/" + strconv.Itoa(pid) + "/exe")
	if err != nil {
		return false
	}
	ours, err := ownFile()
	return err == nil && os.SameFile(ours, theirs)
}

var ownFile = sync.OnceValues(func() (os.FileInfo, error) { return os.Stat(ownExecutable) })

// cellPath is the path of a control group that a Runtime made for a program.
var containerPath = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`/` + regexp.QuoteMeta(cgroupPrefix) + `\d+\.\d+\.\d+/\d+`)
})

// CgroupDepth returns how many control groups made by Runtimes for their programs this
// process is nested in. Leaving the parent or clearing the environment does not change
// the number; moving to another control group does.
func CgroupDepth() int { return cgroupDepth("self") }

// CgroupDepthOf returns the same of another process.
func CgroupDepthOf(pid int) int { return cgroupDepth(strconv.Itoa(pid)) }

func cgroupDepth(process string) int {
	lines, err := os.ReadFile("/proc/" + process + "/cgroup")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(lines)) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			return len(containerPath().FindAllString(filepath.Clean(path), -1))
		}
	}
	return 0
}
