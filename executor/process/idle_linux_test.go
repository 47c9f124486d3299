package process

import (
	"errors"
	"os"
	"sync"
	"testing"
	"time"
)

// TestReadIdle asserts that a parked program is heard as it writes, that who waits for
// more is freed, and that nobody reads what was closed.
func TestReadIdle(t *testing.T) {
	rt := newRuntime(t, Options{})
	command := shell("read line; echo heard $line; exec sleep 60")
	command.Grace = -1
	child, err := rt.StartIdle(t.Context(), command)
	if err != nil {
		t.Fatal(err)
	}
	child.Send([][]byte{[]byte("you\n")}, false)
	var buffer [64]byte
	n, err := child.Read(buffer[:])
	if got := string(buffer[:n]); got != "heard you\n" || err != nil {
		t.Errorf("%q and %v, want its answer", got, err)
	}
	begin := time.Now()
	time.AfterFunc(20*time.Millisecond, child.Interrupt)
	if n, err := child.Read(buffer[:]); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%d bytes and %v, want the end of the wait", n, err)
	}
	if n, err := child.Read(buffer[:]); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%d bytes and %v, want no wait at all", n, err)
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("was freed after %v", took)
	}
	child.Cancel(ErrEnded)
	child.Reap(new(sync.Mutex))
	if _, err := child.Read(buffer[:]); !errors.Is(err, os.ErrClosed) {
		t.Errorf("%v, want closed", err)
	}
	child.Interrupt()
}

// TestReadEnds asserts that who waits for a program hears that it has ended, also
// while a process that it left behind holds its output open.
func TestReadEnds(t *testing.T) {
	rt := newRuntime(t, Options{})
	for _, script := range []string{"exit 0", "setsid sleep 60 & exit 0"} {
		child, err := rt.StartIdle(t.Context(), shell(script))
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if n, err := child.Read(make([]byte, 64)); n != 0 || err == nil {
			t.Errorf("%s: %d bytes and no error", script, n)
		}
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("%s: heard of its end after %v", script, took)
		}
		child.Reap(new(sync.Mutex))
	}
}
