package process

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// talker is a shell that is told what to do, line by line, and answers each with a line.
type talker struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startTalker(t *testing.T, environ ...string) *talker {
	t.Helper()
	s := &talker{Cmd: exec.Command("/bin/sh")}
	s.Env = append([]string{"PATH=" + os.Getenv("PATH")}, environ...)
	var err error
	if s.in, err = s.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := s.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.out = bufio.NewReader(out)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.in.Close()
		_ = s.Process.Kill()
		_ = s.Wait()
	})
	return s
}

func (s *talker) tell(t *testing.T, line string) string {
	t.Helper()
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		t.Fatal(err)
	}
	answer, err := s.out.ReadString('\n')
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return strings.TrimSpace(answer)
}

// sleeper starts a process below the shell.
func (s *talker) sleeper(t *testing.T) int {
	t.Helper()
	pid, err := strconv.Atoi(s.tell(t, "sleep 60 >/dev/null 2>&1 & echo $!"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill()
		}
	})
	return pid
}

const testVariable = "HOOKD_TEST_ANCESTRY"

// of asks, and fails unless the answer is what somebody sees who remembers nothing.
func (a *Ancestry) of(t *testing.T, pid int) []Ancestor {
	t.Helper()
	got, err := a.Of(pid)
	if err != nil {
		t.Fatal(err)
	}
	want, err := ancestorsOf(pid, lookAt)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		var kept []string
		for _, v := range want[i].Environ {
			if strings.HasPrefix(v, testVariable+"=") {
				kept = append(kept, v)
			}
		}
		want[i].Environ = kept
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("above %d:\n%s", pid, d)
	}
	return got
}

// What is remembered of a process does not outlive its program.
func TestAncestryAfterExec(t *testing.T) {
	a := NewAncestry(testVariable)
	defer a.Close()
	shell := startTalker(t)
	below := shell.sleeper(t)
	for range 3 {
		if list := a.of(t, below); list[0].Pid != shell.Process.Pid || list[0].Environ != nil {
			t.Fatalf("%+v", list[0])
		}
	}
	for i := range 20 {
		variable := fmt.Sprintf("%s=%d", testVariable, i%10)
		shell.tell(t, "exec env "+variable+" /bin/sh -c 'echo there; exec /bin/sh'")
		shell.tell(t, "echo I am")
		for range 3 {
			if list := a.of(t, below); list[0].Pid != shell.Process.Pid || len(list[0].Environ) != 1 || list[0].Environ[0] != variable {
				t.Fatalf("%s: %+v", variable, list[0])
			}
		}
	}
	shell.tell(t, "exec env -u "+testVariable+" /bin/sh -c 'echo there; exec /bin/sh'")
	shell.tell(t, "echo I am")
	if list := a.of(t, below); list[0].Environ != nil {
		t.Errorf("the variable is gone: %+v", list[0])
	}
}

// A process whose parent has ended stands below another one.
func TestAncestryOfOrphan(t *testing.T) {
	a := NewAncestry(testVariable)
	defer a.Close()
	shell := startTalker(t, testVariable+"=1")
	below := shell.sleeper(t)
	if list := a.of(t, below); list[0].Pid != shell.Process.Pid || len(list[0].Environ) != 1 {
		t.Fatalf("%+v", list[0])
	}
	_ = shell.Process.Kill()
	_ = shell.Wait()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if e, ok := readEntry(below); !ok || e.parent != shell.Process.Pid {
			break
		}
		if time.Now().After(end) {
			t.Fatal("it has its parent still")
		}
	}
	if list := a.of(t, below); len(list) > 0 && list[0].Pid == shell.Process.Pid {
		t.Errorf("%+v", list[0])
	}
}

// Another process that has got the number of one that ended is another one.
func TestAncestryNumberUsedAgain(t *testing.T) {
	a := NewAncestry(testVariable)
	defer a.Close()
	first, second := startTalker(t, testVariable+"=1"), startTalker(t, testVariable+"=2")
	a.of(t, first.sleeper(t))
	below := second.sleeper(t)
	a.of(t, below)
	// As if the second had come after the first and under its number.
	_ = first.Process.Kill()
	_ = first.Wait()
	old := a.known[first.Process.Pid]
	delete(a.known, first.Process.Pid)
	a.forget(second.Process.Pid)
	a.known[second.Process.Pid] = old
	if list := a.of(t, below); list[0].Pid != second.Process.Pid || list[0].Environ[0] != testVariable+"=2" {
		t.Errorf("%+v", list[0])
	}
}

// However many ask, few files are open.
func TestAncestryIsBounded(t *testing.T) {
	a := NewAncestry(testVariable)
	var pids []int
	for range mostKnown + 8 {
		pids = append(pids, startTalker(t).sleeper(t))
	}
	before := openFiles(t)
	for range 2 {
		for _, pid := range pids {
			a.of(t, pid)
		}
	}
	if n := openFiles(t) - before; n > mostKnown || n < mostKnown/2 {
		t.Errorf("%d files are open", n)
	}
	a.Close()
	if n := openFiles(t) - before; n > 0 {
		t.Errorf("%d files are left open", n)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// A process that cannot be looked at for want of descriptors is not taken for none.
func TestAncestryUnseen(t *testing.T) {
	want := io.ErrUnexpectedEOF
	if _, err := ancestorsOf(os.Getpid(), func(int) (sight, error) { return sight{}, want }); err != want {
		t.Errorf("%v", err)
	}
	if list, err := ancestorsOf(os.Getpid(), func(int) (sight, error) { return sight{}, errNoProcess }); err != nil || list != nil {
		t.Errorf("%v %v", list, err)
	}
}

func BenchmarkAncestry(b *testing.B) {
	b.Run("afresh", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = ancestorsOf(os.Getpid(), lookAt)
		}
	})
	b.Run("remembered", func(b *testing.B) {
		b.ReportAllocs()
		a := NewAncestry(testVariable)
		defer a.Close()
		for b.Loop() {
			_, _ = a.Of(os.Getpid())
		}
	})
}
