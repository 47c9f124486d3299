package process

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Command is one program to run. Its slices are only read, and are shared with
// the caller until [Runtime.Run] returns and [Result.Gone] is closed.
type Command struct {
	Path string   // absolute path of the program; no shell, no search
	Argv []string // argv[0] included; empty: Path alone
	Dir  string   // working directory, must exist
	Env  []string // the whole environment

	// EnvTag is one entry of Env that no other run has. A sweep recognises an
	// escaped process by it. Empty: the TRACEPARENT entry of Env, and without
	// one an entry [RunTag] is added where the containment needs a tag.
	EnvTag string

	// Key, if set, names the program across runs: while the tree of an earlier
	// run with the same key that was cut short is still ending, Run waits.
	Key string

	// Stdin is written piece by piece and closed; not reading it is no error.
	// Pieces spare the runs that share a large one a copy of it.
	Stdin [][]byte

	// StdoutLimit is the number of bytes stdout may have (default 1 MiB). One
	// byte more ends the tree at once with [OutputError].
	StdoutLimit int64
	// StdoutTail, if set, takes the place of StdoutLimit: only the last bytes of
	// stdout are kept and no amount of output ends the program.
	StdoutTail int64
	StderrTail int64 // number of last bytes kept of stderr (default 64 KiB)
	// Stream, if set, gets each piece of stdout as it comes, one call at a time
	// and none after Run has returned. It must not keep the slice.
	Stream func(piece []byte)
	// StderrStream is Stream for stderr. It holds up the program's end: it must not block.
	StderrStream func(piece []byte)
	// Merge sends stderr into stdout, in the order written.
	Merge bool

	Grace time.Duration // from TERM to KILL when the run is cut short (default 500 ms, negative: none)
	Drain time.Duration // how long output is read after the exit (default and most: 250 ms)

	child childCommand
}

// childCommand is what the run of a [Child] has that others have not.
type childCommand struct {
	pipes       *pipePair                             // in place of pipes of the run's own
	noSlot      bool                                  // it takes none of Options.Processes
	onStderr    func(piece []byte)                    // gets stderr as it comes
	awaitOutput func(drain time.Duration) (held bool) // waits for the rest of stdout after the exit
}

// RunTag is the variable by which a program without a tag of its own is known.
const RunTag = "HOOKD_RUN"

// Defaults of a [Command]'s zero fields, and the two limits that no command can change.
const (
	DefaultStdoutLimit = 1 << 20
	defaultStderrTail  = 64 << 10
	defaultGrace       = 500 * time.Millisecond
	maxDrain           = 250 * time.Millisecond
)

// Result is how a run ended. Exactly one of these holds: Err is set, or Signal
// is not empty, or ExitCode is 0 or more.
type Result struct {
	Stdout    []byte // intact, up to the limit, whatever the ending
	StdoutCut int64  // bytes dropped before Stdout; only with Command.StdoutTail
	Stderr    []byte // the last bytes
	StderrCut int64  // bytes dropped before Stderr

	ExitCode int    // -1 unless the program exited by itself
	Signal   string // name of the signal that ended the program, such as SIGSEGV; "" if none, or if it was ours

	// Err says why the program did not run to its own end: a [*StartError], an
	// [*OutputError], [ErrClosed], or the cause of the ended context.
	Err error

	// OutputHeldOpen reports whether a process that the program left running still had an
	// output open after the drain time. What that process writes later is lost.
	OutputHeldOpen bool

	// Left are the processes that the program left running when it ended by itself.
	// They are ended. Only Linux tells.
	Left Left

	Pid    int           // 0 if it was never started
	Waited time.Duration // of Took: for a free slot, or an earlier run with the same key
	Took   time.Duration // from the call of Run to its return

	// Gone is closed when no process of the tree is alive any more. It is never
	// nil. A caller that must not run the same program twice at once waits for it.
	Gone <-chan struct{}
}

// ErrClosed is the Err of a run that [Runtime.Close] cut short or that came
// after it.
var ErrClosed = errors.New("process runtime is closed")

// OutputError is a program that wrote more to stdout than it may.
type OutputError struct{ Limit int64 } // bytes

func (e *OutputError) Error() string { return fmt.Sprintf("output over %d bytes", e.Limit) }

// withDefaults returns a copy in which every zero field has its default.
func (c *Command) withDefaults() Command {
	d := *c
	if len(d.Argv) == 0 {
		d.Argv = []string{d.Path}
	}
	if d.StdoutLimit <= 0 {
		d.StdoutLimit = DefaultStdoutLimit
	}
	if d.StderrTail <= 0 {
		d.StderrTail = defaultStderrTail
	}
	if d.Grace == 0 {
		d.Grace = defaultGrace
	}
	if d.Drain <= 0 || d.Drain > maxDrain {
		d.Drain = maxDrain
	}
	return d
}

// closedChannel is the Gone of every run that left nothing behind.
var closedChannel = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// envTag returns the entry of Env by which the run's processes are recognised, ""
// if there is none.
func (c *Command) envTag() string {
	if c.EnvTag != "" {
		return c.EnvTag
	}
	for _, variable := range c.Env {
		if strings.HasPrefix(variable, "TRACEPARENT=") {
			return variable
		}
	}
	return ""
}

// rest is what is left of pieces of which n bytes, or none, were written.
func rest(pieces [][]byte, n int) [][]byte {
	for len(pieces) > 0 && len(pieces[0]) <= max(n, 0) {
		n -= len(pieces[0])
		pieces = pieces[1:]
	}
	if n > 0 {
		pieces[0] = pieces[0][n:]
	}
	return pieces
}

func inputSize(pieces [][]byte) int {
	size := 0
	for _, piece := range pieces {
		size += len(piece)
	}
	return size
}
