package process

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Ancestry lists the processes above others, for one who asks about many that have the
// same ancestors. It remembers what takes long to read, the environment that a process was
// started with and its program, and reads each time what tells that neither is another one
// by now: it keeps the file of the process open, which never becomes that of a later process
// with the same number, and compares what starting a program changes.
//
// A process can write over its own environment without that. Then the old one counts, until
// the process starts another program.
type Ancestry struct {
	variable string

	mu    sync.Mutex
	known map[int]*acquaintance
	asked uint64
}

// NewAncestry returns one whose lists name of each environment no more than one variable.
func NewAncestry(variable string) *Ancestry {
	return &Ancestry{variable: variable + "=", known: map[int]*acquaintance{}}
}

// acquaintance is a process that is remembered.
type acquaintance struct {
	stat    int // descriptor of its file in /proc
	image   string
	runs    bool
	environ []string
	asked   uint64 // when it was last wanted
}

// mostKnown bounds the open files. Above a process stand rarely more than ten.
const mostKnown = 64

// Of lists the processes above another one, as [Ancestors] does. The error says that one of
// them could not be looked at, so that nothing is known of those above it.
func (a *Ancestry) Of(pid int) ([]Ancestor, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked++
	return ancestorsOf(pid, a.look)
}

// Close closes the files.
func (a *Ancestry) Close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for pid := range a.known {
		a.forget(pid)
	}
}

func (a *Ancestry) look(pid int) (sight, error) {
	var room [statSize]byte
	known := a.known[pid]
	if known != nil {
		n, err := unix.Pread(known.stat, room[:], 0)
		if err != nil { // it is gone, and another one may have its number
			a.forget(pid)
			known = nil
		} else if s, ok := known.see(pid, room[:n]); ok {
			known.asked = a.asked
			return s, nil
		}
	}
	if known == nil {
		stat, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return sight{}, missing(err)
		}
		if len(a.known) == mostKnown {
			a.forgetOldest()
		}
		known = &acquaintance{stat: stat}
		a.known[pid] = known
	}
	// The image is read before what belongs to it: if the process starts a program in
	// between, the next look sees another image.
	n, err := unix.Pread(known.stat, room[:], 0)
	if err != nil {
		a.forget(pid)
		return sight{}, missing(err)
	}
	e, ok := parseStat(pid, room[:n])
	if !ok {
		a.forget(pid)
		return sight{}, errNoProcess
	}
	known.asked, known.image = a.asked, string(appendImage(nil, room[:n]))
	known.environ, known.runs = a.variableOf(pid), runs(&e)
	return sight{entry: e, runs: known.runs, environ: known.environ}, nil
}

// see returns what is remembered of a process together with its line of now. It reports
// false if the process has another program since.
func (k *acquaintance) see(pid int, line []byte) (sight, bool) {
	var room [statSize]byte
	if string(appendImage(room[:0], line)) != k.image {
		return sight{}, false
	}
	e, ok := parseStat(pid, line)
	return sight{entry: e, runs: k.runs, environ: k.environ}, ok
}

// variableOf returns the variable that counts, as the process was started with it.
func (a *Ancestry) variableOf(pid int) []string {
	environ := environOf(pid)
	i := slices.IndexFunc(environ, func(v string) bool { return strings.HasPrefix(v, a.variable) })
	if i < 0 {
		return nil
	}
	return []string{strings.Clone(environ[i])}
}

func (a *Ancestry) forget(pid int) {
	unix.Close(a.known[pid].stat)
	delete(a.known, pid)
}

func (a *Ancestry) forgetOldest() {
	oldest, found := 0, false
	for pid, known := range a.known {
		if !found || known.asked < a.known[oldest].asked {
			oldest, found = pid, true
		}
	}
	a.forget(oldest)
}

// appendImage appends what of a line tells one program of a process from the next: its name,
// and where in memory its code, its stack, its arguments and its environment lie. The kernel
// chooses these places at random. Those that it does not show to us are 0, and such a process
// does not show its environment either.
func appendImage(dst, line []byte) []byte {
	fields := splitStat(line)
	dst = append(dst, line[:max(bytes.LastIndexByte(line, ')'), 0)]...)
	for _, part := range [][][]byte{fields[23:26], fields[42:49]} {
		for _, field := range part {
			dst = append(append(dst, ' '), field...)
		}
	}
	return dst
}
