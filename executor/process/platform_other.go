//go:build !linux

package process

func prepareProcess(*Options) error { return nil }

// choose takes the process group (on Windows a job object): nothing better is
// to be had here.
func choose(o *Options) (containment, error) {
	if o.Containment != Best && o.Containment != Group {
		return nil, &unavailableError{kind: o.Containment, why: "only on Linux"}
	}
	return newGroup([]string{"cgroup, pidns and subreaper: only on Linux"})
}

func (rt *Runtime) startProgram(c *Command, l *launch) (program, error) { return startPortable(c, l) }
