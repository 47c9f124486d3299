package process

import (
	"fmt"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"
)

// groups contains each program in a job object. A job ends with its last
// handle, so the programs die with us, whatever ends us.
type groups struct{ unavailable []string }

func newGroup(unavailable []string) (containment, error) {
	return &groups{unavailable: unavailable}, nil
}

func (g *groups) report() Report {
	return Report{
		Kind:        Group,
		Covers:      "every process of the hook: a job object holds them",
		Misses:      "a process that was started before the hook was put into its job, in its first moments",
		Guardian:    "the system ends the job objects",
		Unavailable: g.unavailable,
	}
}

func (g *groups) close() error { return nil }

func (g *groups) newContainer(*Command) (container, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, fmt.Errorf("create job object: %w", err)
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err != nil {
		windows.CloseHandle(job)
		return nil, fmt.Errorf("limit job object: %w", err)
	}
	return &jobContainer{job: job}, nil
}

// jobCell is one job object.
type jobContainer struct {
	job   windows.Handle
	close sync.Once
}

func (j *jobContainer) attach(l *launch) {
	l.sys.HideWindow = true
	l.sys.CreationFlags = windows.CREATE_NEW_PROCESS_GROUP
}

func (j *jobContainer) started(pid int) {
	program, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return // it has ended already
	}
	defer windows.CloseHandle(program)
	windows.AssignProcessToJobObject(j.job, program)
}

// terminate does nothing: Windows has no polite signal for a program without a
// console.
func (j *jobContainer) terminate() {}

func (j *jobContainer) exited() { j.kill() }

func (j *jobContainer) clean() bool { return true }

func (j *jobContainer) kill() { windows.TerminateJobObject(j.job, 1) }

// empty is true after kill: a terminated job takes no new process.
func (j *jobContainer) empty() bool { return true }

func (j *jobContainer) free() { j.close.Do(func() { windows.CloseHandle(j.job) }) }
