package process

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// entry is one process as /proc shows it.
type entry struct {
	pid, parent, group, session int
	start                       uint64 // clock ticks since boot: with the pid, names a process for good
	zombie                      bool
}

// readEntry reads one process; ok is false when there is none.
func readEntry(pid int) (e entry, ok bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return entry{}, false
	}
	return parseStat(pid, string(text))
}

// parseStat reads the fields behind the program's name, which stands in
// parentheses and may hold anything, parentheses included.
func parseStat(pid int, text string) (entry, bool) {
	i := strings.LastIndexByte(text, ')')
	if i < 0 {
		return entry{}, false
	}
	fields := strings.Fields(text[i+1:])
	if len(fields) < 20 {
		return entry{}, false
	}
	e := entry{pid: pid, zombie: fields[0] == "Z" || fields[0] == "X"}
	for k, target := range []*int{&e.parent, &e.group, &e.session} {
		n, err := strconv.Atoi(fields[1+k])
		if err != nil {
			return entry{}, false
		}
		*target = n
	}
	start, err := strconv.ParseUint(fields[19], 10, 64)
	e.start = start
	return e, err == nil
}

// startTime returns a process's start in clock ticks since boot, 0 if there is
// no such process.
func startTime(pid int) uint64 {
	e, _ := readEntry(pid)
	return e.start
}

// processTable reads all processes.
func processTable() []entry {
	folder, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer folder.Close()
	names, _ := folder.Readdirnames(-1)
	var table []entry
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if e, ok := readEntry(pid); ok {
			table = append(table, e)
		}
	}
	return table
}

// groupAlive reports whether a process group has a live member. Its dead may stay
// in the table for as long as they like: in many containers nobody reaps.
func groupAlive(id int) bool {
	if syscall.Kill(-id, 0) == syscall.ESRCH {
		return false
	}
	for _, e := range processTable() {
		if e.group == id && !e.zombie {
			return true
		}
	}
	return false
}

// children returns the processes whose parent is pid, and false where the
// kernel does not list them.
func children(pid int) (list []int, ok bool) {
	files, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the thread has ended
		}
		ok = true
		for field := range strings.FieldsSeq(string(text)) {
			if child, err := strconv.Atoi(field); err == nil {
				list = append(list, child)
			}
		}
	}
	return list, ok
}

// hasMark reports whether the process was started with the environment entry.
func hasMark(pid int, mark string) bool {
	if mark == "" {
		return false
	}
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	for len(text) > 0 {
		var variable []byte
		variable, text, _ = bytes.Cut(text, []byte{0})
		if string(variable) == mark {
			return true
		}
	}
	return false
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
