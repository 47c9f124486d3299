//go:build unix

package daemon

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc"
)

// TestMain is also the daemon of the tests that need a process of its own.
func TestMain(m *testing.M) {
	if os.Getenv("DAEMON_OF_TEST") != "" {
		os.Exit(daemonOfTest())
	}
	goleak.VerifyTestMain(m)
}

// daemonOfTest serves stdio with engines that print to stdout whenever they
// can.
func daemonOfTest() int {
	stdio, err := Stdio(0)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	o := &opener{begin: func(protocol.Event) func() {
		fmt.Println("foreign text on stdout")
		return func() {}
	}}
	if err := New(Options{Open: o.open}).Serve(ctx, stdio, nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Fprintln(os.Stderr, "ended cleanly")
	return 0
}

// process is a daemon in a process of its own.
type process struct {
	*peerEnd
	cmd    *exec.Cmd
	stderr bytes.Buffer
	stdout *os.File
}

func startProcess(t *testing.T) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: exec.Command(self)}
	p.cmd.Env = append(os.Environ(), "DAEMON_OF_TEST=1", "GORACE=atexit_sleep_ms=0")
	p.cmd.Stderr = &p.stderr
	toDaemon, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stdout, p.stdout = in, out
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	p.peerEnd = newPeerEnd(out, toDaemon)
	return p
}

// wait waits for the process to end cleanly within limit.
func (p *process) wait(t *testing.T, limit time.Duration) {
	t.Helper()
	began := time.Now()
	kill := time.AfterFunc(limit+5*time.Second, func() { _ = p.cmd.Process.Kill() })
	err := p.cmd.Wait()
	kill.Stop()
	if took := time.Since(began); err != nil || took > limit || !strings.Contains(p.stderr.String(), "ended cleanly") {
		t.Errorf("ended after %v with %v:\n%s", took, err, p.stderr.String())
	}
	p.close()
	p.stdout.Close()
}

// H27: no matter what prints to stdout, or who opens the daemon's descriptor 1,
// each line on its stdout is a message.
func TestNothingForeignOnStdout(t *testing.T) {
	p := startProcess(t)
	_ = p.send(openLine(1, "a"), fireLine(2, "a", "", "ls"))
	p.answer(t, "1")
	if r := p.answer(t, "2"); r.Error != nil {
		t.Error(r.Error)
	}
	if descriptor, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/1", p.cmd.Process.Pid), os.O_WRONLY, 0); err == nil {
		fmt.Fprintln(descriptor, "text of a hook that opened descriptor 1")
		descriptor.Close()
	}
	_ = p.send(fireLine(3, "a", "", "panic"), fireLine(4, "a", "", "ls"), `{"jsonrpc":"2.0","id":5,"method":"shutdown"}`)
	if r := p.answer(t, "3"); r.code() != rpc.InternalError {
		t.Errorf("panic: %v", r.Error)
	}
	p.answer(t, "4")
	p.answer(t, "5")
	p.wait(t, 2*time.Second)
	if !strings.Contains(p.stderr.String(), "foreign text") {
		t.Errorf("the foreign text is lost:\n%s", p.stderr.String())
	}
}

// H49: a signal, a closed stdin and a host that is gone end the daemon within
// two seconds, even while an event hangs.
func TestEndOfProcess(t *testing.T) {
	for name, end := range map[string]func(p *process){
		"signal":       func(p *process) { _ = p.cmd.Process.Signal(syscall.SIGTERM) },
		"stdin closed": func(p *process) { _ = p.w.Close() },
		"both closed":  func(p *process) { p.stdout.Close(); _ = p.w.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			p := startProcess(t)
			_ = p.send(openLine(1, "a"))
			p.answer(t, "1")
			_ = p.send(fireLine(2, "a", "", "wait"), `{"jsonrpc":"2.0","id":3,"method":"ping"}`)
			p.answer(t, "3")
			end(p)
			p.wait(t, 2*time.Second)
		})
	}
}

// A host that stops reading must not kill the daemon by SIGPIPE: what runs has
// to be ended first.
func TestReaderGone(t *testing.T) {
	p := startProcess(t)
	_ = p.send(openLine(1, "a"))
	p.answer(t, "1")
	_ = p.send(fireLine(2, "a", "c1", "wait"), fireLine(3, "a", "c2", "sleep 50ms"))
	p.stdout.Close()
	p.wait(t, 3*time.Second)
}

// The reader of stdin can be closed while it waits, and reads what was written.
func TestReaderCloses(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	fd, err := syscall.Dup(int(r.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	in, err := newReader(fd)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = w.WriteString("ab")
	buf := make([]byte, 10)
	if n, err := in.Read(buf); string(buf[:n]) != "ab" || err != nil {
		t.Fatalf("%q %v", buf[:n], err)
	}
	ended := make(chan error)
	go func() { _, err := in.Read(buf); ended <- err }()
	time.Sleep(20 * time.Millisecond)
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	select {
	case err := <-ended:
		if err != io.EOF {
			t.Error(err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("Read did not end")
	}
	if _, err := in.Read(buf); err != io.EOF {
		t.Error(err)
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
}
