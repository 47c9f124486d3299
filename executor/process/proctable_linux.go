package process

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// entry is one process as /proc shows it.
type entry struct {
	pid, parent, group, session int
	start                       uint64 // clock ticks since boot: with the pid, names a process for good
	zombie                      bool   // dead, all its threads
	headless                    bool   // its first thread is dead, others are not
	stopped                     bool   // by a signal, or by a debugger
	background                  bool   // a terminal controls it, and another process group reads the keyboard
	name                        string // of its program, or what it calls itself
	environ                     environState
}

// environState is what the kernel says of a process's environment, to a reader
// that may read it.
type environState int

const (
	environNone  environState = iota // none at the moment: the process is between two programs, or exits
	environEmpty                     // it was started without one
	environThere
)

// readEntry reads one process; ok is false when there is none, or no more than a
// number of it can be read.
func readEntry(pid int) (e entry, ok bool) {
	e, err := lookUp(pid)
	return e, err == nil
}

// errNoProcess is a process that is gone, or another user's that is hidden from
// us (the mount option hidepid).
var errNoProcess = errors.New("no such process")

// lookUp reads one process. An error other than [errNoProcess] says nothing of
// whether it is there: this process may have no descriptor left to look with.
func lookUp(pid int) (entry, error) {
	var room [statSize]byte
	text, err := readOnce("/proc/"+strconv.Itoa(pid)+"/stat", room[:])
	if err != nil {
		return entry{}, missing(err)
	}
	e, ok := parseStat(pid, text)
	if !ok {
		return e, errNoProcess
	}
	return e, nil
}

// missing returns [errNoProcess] for an error that says so, and other errors as they are.
func missing(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) || errors.Is(err, fs.ErrPermission) {
		return errNoProcess
	}
	return err
}

// statSize is more than the longest line that the kernel writes for a process.
const statSize = 2 << 10

// readOnce opens a file of /proc and reads it with one call. It asks less of the
// kernel than os.ReadFile, which counts where hundreds are read.
func readOnce(path string, room []byte) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	n, err := unix.Read(fd, room)
	return room[:max(n, 0)], err
}

// parseStat reads the fields after the program's name, which stands in
// parentheses and may hold anything, parentheses included.
func parseStat(pid int, text []byte) (entry, bool) {
	from, i := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if i < 0 {
		return entry{}, false
	}
	fields := splitStat(text)
	if len(fields[19]) == 0 {
		return entry{}, false
	}
	e := entry{pid: pid, stopped: fields[0][0] == 'T' || fields[0][0] == 't'}
	if from >= 0 && from < i {
		e.name = string(text[from+1 : i])
	}
	if fields[0][0] == 'Z' || fields[0][0] == 'X' {
		// So is a process called whose first thread has ended before the others.
		threads, _ := strconv.Atoi(string(fields[17]))
		e.headless = threads > 1
		e.zombie = !e.headless
	}
	if begin, end := fields[47], fields[48]; len(end) > 0 && string(end) != "0" {
		e.environ = environThere
		if bytes.Equal(begin, end) {
			e.environ = environEmpty
		}
	}
	for k, target := range []*int{&e.parent, &e.group, &e.session} {
		n, err := strconv.Atoi(string(fields[1+k]))
		if err != nil {
			return entry{}, false
		}
		*target = n
	}
	e.background = string(fields[4]) != "0" && !bytes.Equal(fields[5], fields[2])
	start, err := strconv.ParseUint(string(fields[19]), 10, 64)
	if err != nil {
		return entry{}, false
	}
	e.start = start
	return e, true
}

// splitStat returns the fields after the program's name: the first is the third of the
// line. Those that the kernel does not write are empty.
func splitStat(text []byte) (fields [statFields][]byte) {
	text = bytes.TrimSuffix(text[bytes.LastIndexByte(text, ')')+1:], []byte("\n"))
	text = bytes.TrimPrefix(text, []byte(" "))
	for n := range fields {
		end := bytes.IndexByte(text, ' ')
		if end < 0 {
			fields[n] = text
			break
		}
		fields[n], text = text[:end], text[end+1:]
	}
	return fields
}

// statFields is how many fields there are.
const statFields = 50

// startTime returns a process's start in clock ticks since boot, 0 if there is
// no such process.
func startTime(pid int) uint64 {
	e, _ := readEntry(pid)
	return e.start
}

// processTable reads all processes. With an error the table may lack some.
func processTable() (table []entry, err error) {
	folder, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	names, err := folder.Readdirnames(-1)
	for _, name := range names {
		pid, notPid := strconv.Atoi(name)
		if notPid != nil {
			continue
		}
		switch e, lookErr := lookUp(pid); lookErr {
		case nil:
			table = append(table, e)
		case errNoProcess:
		default:
			err = lookErr
		}
	}
	return table, err
}

// groupAlive reports whether a process group has, or may have, a live member. Its
// dead may stay in the table for as long as they like: in many containers nobody
// reaps.
func groupAlive(id int) bool {
	if syscall.Kill(-id, 0) == syscall.ESRCH {
		return false
	}
	table, err := processTable()
	for _, e := range table {
		if e.group == id && !e.zombie {
			return true
		}
	}
	return err != nil
}

// children returns every process whose parent is pid, and false where they
// cannot be told for sure.
func children(pid int) (list []int, ok bool) {
	return stable(func() ([]int, bool) { return listChildren(pid) })
}

// adopted returns the children that the kernel notes at the first thread of this
// process: every orphan that came to us, and what that thread itself has started.
// The other threads need not be asked: the kernel (since Linux 3.19) gives an orphan
// to the first thread of its new parent that has not ended, and the first thread of a
// Go program never ends.
func adopted() (list []int, ok bool) {
	self := strconv.Itoa(os.Getpid())
	return stable(func() ([]int, bool) {
		list, err := readChildren("/proc/" + self + "/task/" + self + "/children")
		return list, err == nil
	})
}

// stable lists children until they can be told for sure. The kernel leaves children
// out when the one it listed last is waited for meanwhile. That one is not on the
// next list. So a list whose processes all are on the next one, too, is whole.
func stable(children func() ([]int, bool)) (list []int, ok bool) {
	list, ok = children()
	for range 4 {
		if !ok || len(list) == 0 {
			return list, ok
		}
		var again []int
		again, ok = children()
		if ok && containsAll(again, list) {
			return list, true
		}
		list = again
	}
	return nil, false
}

// containsAll reports whether all of some numbers are in a list. There may be thousands.
func containsAll(list, all []int) bool {
	list = slices.Sorted(slices.Values(list))
	return !slices.ContainsFunc(all, func(n int) bool {
		_, found := slices.BinarySearch(list, n)
		return !found
	})
}

// listChildren reads the kernel's lists once, one for each thread of the process.
func listChildren(pid int) (list []int, ok bool) {
	threads := "/proc/" + strconv.Itoa(pid) + "/task"
	entries, err := os.ReadDir(threads)
	if err != nil {
		return nil, false
	}
	for _, thread := range entries {
		found, err := readChildren(threads + "/" + thread.Name() + "/children")
		if errors.Is(err, unix.ESRCH) || errors.Is(err, fs.ErrNotExist) {
			continue // the thread has ended, or no thread has the file
		}
		if err != nil {
			return nil, false
		}
		ok = true
		list = append(list, found...)
	}
	return list, ok
}

// readChildren reads one list of the kernel.
func readChildren(file string) (list []int, err error) {
	var room [statSize]byte
	text, err := readOnce(file, room[:])
	if len(text) == len(room) {
		text, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, err
	}
	for field := range strings.FieldsSeq(string(text)) {
		if child, err := strconv.Atoi(field); err == nil {
			list = append(list, child)
		}
	}
	return list, nil
}

// killEntry kills exactly the process that was seen, never another one that has
// its number by now.
func killEntry(e entry) {
	fd, err := unix.PidfdOpen(e.pid, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if startTime(e.pid) == e.start {
		unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	}
}
