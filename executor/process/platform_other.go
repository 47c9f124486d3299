//go:build !linux

package process

import (
	"fmt"
	"os"
)

func prepareProcess(*Options) error { return nil }

// choose takes the process group (on Windows a job object): there is nothing better
// here.
func choose(o *Options) (containment, error) {
	if o.Containment != Best && o.Containment != Group {
		return nil, fmt.Errorf("containment %s: only on Linux", o.Containment)
	}
	return newGroup([]string{"cgroup and subreaper: only on Linux"})
}

func (rt *Runtime) startProgram(c *Command, l *launch) (program, error) { return startPortable(c, l) }

func startProcess(path string, argv []string, attr *os.ProcAttr) (*os.Process, error) {
	return os.StartProcess(path, argv, attr)
}

func waitedFor(int) {}
