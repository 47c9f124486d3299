package process

import (
	"bytes"
	"errors"
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
	list, _ := ancestorsOf(pid, lookAt)
	return list
}

// sight is a process as it was seen.
type sight struct {
	entry
	runs    bool
	environ []string
}

// ancestorsOf lists the processes above another one. look returns one of them. The error
// says that not all could be looked at; a process that is gone or hidden is none.
func ancestorsOf(pid int, look func(pid int) (sight, error)) ([]Ancestor, error) {
	below, err := lookUp(pid)
	var list []Ancestor
	for err == nil && below.parent > 0 && len(list) < mostAncestors {
		var above sight
		if above, err = look(below.parent); err != nil {
			break
		}
		list = append(list, Ancestor{
			Pid: above.pid, Environ: above.environ, Runs: above.runs,
			// A program begins a session of its own, and never comes back into ours. The
			// first process of its namespace stands in between, for hookd.
			Starts: above.runs && below.session != above.session,
		})
		below = above.entry
	}
	if errors.Is(err, errNoProcess) {
		err = nil
	}
	return list, err
}

// lookAt looks at a process.
func lookAt(pid int) (sight, error) {
	e, err := lookUp(pid)
	if err != nil {
		return sight{}, err
	}
	return sight{entry: e, runs: runs(&e), environ: environOf(pid)}, nil
}

// runs reports whether a process is hookd, or what hookd starts programs by.
func runs(e *entry) bool { return e.name == programName || ourProgram(e.pid) }

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
	var room [4096]byte
	lines, err := readOnce("/proc/"+process+"/cgroup", room[:])
	if len(lines) == len(room) {
		lines, err = os.ReadFile("/proc/" + process + "/cgroup")
	}
	if err != nil || !bytes.Contains(lines, []byte("/"+cgroupPrefix)) {
		return 0
	}
	for line := range strings.Lines(string(lines)) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			return len(containerPath().FindAllString(filepath.Clean(path), -1))
		}
	}
	return 0
}
