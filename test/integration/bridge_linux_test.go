package integration

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hookd-dev/hookd/internal/program"
	"github.com/hookd-dev/hookd/internal/program/hashed"
	"github.com/hookd-dev/hookd/protocol/rpc/socket"
)

// station is a box in which Claude Code is to start hookd-bridge.
type station struct {
	*box
	t     *testing.T
	hookd string // path of the installed one
}

// guardOfBridges refuses what says so, tells who asked it, and waits where it is told to.
const guardOfBridges = `#!/bin/sh
# hook: events=tool-call-start can=block timeout=60s
input=$(cat)
echo "$PPID" >>"$HOME/asked"
case $input in
*HANG*) test -e "$HOME/second" || { : >"$HOME/second"; sleep 300; } ;;
*WAIT*) sleep 300 ;;
esac
case $input in
*allowed*) ;;
*) printf '{"action":"block","reason":"not in this house, %s"}\n' "$WHO" ;;
esac
`

// newStation installs hookd: it records the program, as hookd install does.
func newStation(t *testing.T, hookd string) *station {
	t.Helper()
	lookAtSources(t)
	s := &station{box: newBox(t), t: t, hookd: hookd}
	s.script(t, "guard.sh", guardOfBridges)
	s.settings(t, `{"hooks":{"env":["WHO"]}}`)
	if err := os.MkdirAll(s.state(), 0o700); err != nil {
		t.Fatal(err)
	}
	s.record()
	t.Cleanup(func() {
		if left := aliveAfter(s.folder, 5*time.Second); len(left) > 0 {
			t.Errorf("still alive: %s", strings.Join(left, "; "))
		}
	})
	return s
}

func (s *station) state() string { return filepath.Join(s.folder, "state", "hookd") }

func (s *station) record() {
	s.t.Helper()
	if _, err := hashed.Write(s.state(), s.hookd); err != nil {
		s.t.Fatal(err)
	}
}

// copied puts hookd and its messenger into a folder of their own, where they may be replaced.
func copied(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for _, name := range []string{"hookd", "hookd-bridge"} {
		text, err := os.ReadFile(filepath.Join(filepath.Dir(binary), name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(folder, "hookd")
}

// daemon is a daemon of the station that the test has started.
type daemon struct {
	*exec.Cmd
	socket string
}

// daemonSeeing starts one with the variable that the guard sees.
func (s *station) daemonSeeing(who string, args ...string) *daemon {
	s.t.Helper()
	return s.daemonIn(s.project, who, args...)
}

// daemonIn starts that of the project of a folder.
func (s *station) daemonIn(folder, who string, args ...string) *daemon {
	s.t.Helper()
	c := s.command(append([]string{"serve", "--socket"}, args...)...)
	c.Dir = folder
	c.Path, c.Env = s.hookd, append(c.Env, "WHO="+who)
	stderr, err := c.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		c.Process.Signal(syscall.SIGCONT)
		c.Process.Signal(syscall.SIGTERM)
		c.Wait()
	})
	line, err := bufio.NewReader(stderr).ReadString('\n')
	path, found := strings.CutPrefix(strings.TrimSpace(line), "hookd: listening on ")
	if err != nil || !found {
		s.t.Fatalf("%q, %v", line, err)
	}
	go io.Copy(io.Discard, stderr)
	return &daemon{c, path}
}

// answered is how a program that Claude Code has started ended.
type answered struct {
	stdout, stderr string
	code           int
	took           time.Duration
}

func (a answered) refused() bool {
	return a.code == 2 && a.stderr != "" || strings.Contains(a.stdout, `"permissionDecision":"deny"`)
}

func toolCall(command string) string {
	return fmt.Sprintf(`{"session_id":"s1","transcript_path":"/t","cwd":"/","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":%q},"tool_use_id":"toolu_1"}`, command)
}

// messenger is the program in Claude Code's settings.
func (s *station) messenger(args ...string) *exec.Cmd {
	c := s.command(append([]string{"claude", "PreToolUse"}, args...)...)
	c.Path = s.hookd + "-bridge"
	c.Env = append(c.Env, "WHO=nobody else")
	return c
}

func (s *station) run(c *exec.Cmd, input string) (a answered) {
	s.t.Helper()
	var stdout, stderr bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(input), &stdout, &stderr
	began := time.Now()
	err := c.Run()
	if ended := (*exec.ExitError)(nil); err != nil && !errors.As(err, &ended) {
		s.t.Fatal(err)
	}
	return answered{stdout.String(), stderr.String(), c.ProcessState.ExitCode(), time.Since(began)}
}

// refuses runs a messenger on a command that the guard refuses, and fails unless it is
// refused, in time.
func (s *station) refuses(c *exec.Cmd, input string, limit time.Duration) answered {
	s.t.Helper()
	a := s.run(c, input)
	if !a.refused() {
		s.t.Errorf("it passed: %+v", a)
	}
	if a.took > limit {
		s.t.Errorf("it took %v", a.took)
	}
	return a
}

// askers are the processes that have asked the guard so far.
func (s *station) askers() []string {
	text, _ := os.ReadFile(filepath.Join(s.home, "asked"))
	return strings.Fields(string(text))
}

// byDaemon reports whether the guard was asked last by a daemon.
func (s *station) byDaemon(pid int) bool {
	askers := s.askers()
	return len(askers) > 0 && askers[len(askers)-1] == strconv.Itoa(pid)
}

func (s *station) await(file string) {
	s.t.Helper()
	for range 1000 {
		if exists(filepath.Join(s.home, file)) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.t.Fatalf("%s did not appear", file)
}

// A daemon answers with the very bytes that hookd bridge writes, and hookd is not started:
// also what the person is told before the hooks decide, each time, and what changes about it.
func TestBridgeByDaemon(t *testing.T) {
	s := newStation(t, binary)
	d := s.daemonSeeing("nobody else")
	both := func(input string) (warm answered) {
		t.Helper()
		warm = s.run(s.messenger(), input)
		if !s.byDaemon(d.Process.Pid) {
			t.Errorf("%s: the daemon %d was not asked, but %v", input, d.Process.Pid, s.askers())
		}
		alone := s.command("bridge", "claude", "PreToolUse")
		alone.Env = append(alone.Env, "WHO=nobody else")
		cold := s.run(alone, input)
		if s.byDaemon(d.Process.Pid) {
			t.Errorf("%s: hookd bridge has asked the daemon", input)
		}
		if warm.stdout != cold.stdout || warm.stderr != cold.stderr || warm.code != cold.code {
			t.Errorf("%s\nby a daemon: %+v\nalone: %+v", input, warm, cold)
		}
		return warm
	}
	for _, command := range []string{"git push --force", "allowed"} {
		if warm := both(toolCall(command)); warm.refused() != (command != "allowed") || warm.stderr != "" {
			t.Errorf("%s: %+v", command, warm)
		}
	}
	// What nobody allowed, what says nothing of events, and settings that nobody allowed.
	if err := os.MkdirAll(filepath.Join(s.project, ".acai", "hooks"), 0o755); err != nil {
		t.Fatal(err)
	}
	late := filepath.Join(s.project, ".acai", "hooks", "late.sh")
	if err := os.WriteFile(late, []byte("#!/bin/sh\n# hook: events=tool-call-start\ncat >/dev/null\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.project, ".acai", "hooks", "mute.sh"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.untilSeen("late.sh")
	for range 2 {
		if warm := both(toolCall("allowed")); !strings.Contains(warm.stderr, "hookd: note: not in force in this project, nobody allowed it yet: 2 hooks") || !strings.Contains(warm.stderr, "hookd: hint: ") || warm.refused() {
			t.Errorf("%+v", warm)
		}
	}
	if warm := s.run(s.messenger(), "{"); strings.Contains(warm.stderr, "hookd: note: not in force") || !warm.refused() {
		t.Errorf("what cannot be read comes before the hooks: %+v", warm)
	}
}

// untilSeen asks until the notes name something: a daemon needs a moment to see a new file.
func (s *station) untilSeen(name string) {
	s.t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if strings.Contains(s.run(s.messenger(), toolCall("allowed")).stderr, name) {
			return
		}
	}
	s.t.Fatalf("%s was not seen", name)
}

// Hooks see the variables of the caller, also of two that differ and take turns, and also
// those that only a hook names. The daemon speaks for both.
func TestBridgeByDaemonForTwo(t *testing.T) {
	s := newStation(t, binary)
	d := s.daemonSeeing("the daemon")
	for _, who := range []string{"one", "the other", "one", "the daemon"} {
		c := s.messenger()
		c.Env = append(c.Env, "WHO="+who)
		a := s.refuses(c, toolCall("git push --force"), 3*time.Second)
		if !strings.Contains(a.stdout+a.stderr, "not in this house, "+who) || !s.byDaemon(d.Process.Pid) {
			t.Errorf("%s, asked by %v: %+v", who, s.askers(), a)
		}
	}
}

// Whatever is wrong with the daemon, the messenger does without it.
func TestBridgeWithoutItsDaemon(t *testing.T) {
	refuse := toolCall("git push --force")
	alone := func(s *station, pid int, a answered) {
		s.t.Helper()
		if s.byDaemon(pid) || !strings.Contains(a.stdout+a.stderr, "not in this house, nobody else") {
			s.t.Errorf("asked by %v: %+v", s.askers(), a)
		}
	}
	t.Run("none", func(t *testing.T) {
		s := newStation(t, binary)
		alone(s, 0, s.refuses(s.messenger(), refuse, 3*time.Second))
	})
	t.Run("dead", func(t *testing.T) {
		s := newStation(t, binary)
		d := s.daemonSeeing("nobody else")
		d.Process.Kill()
		d.Wait()
		alone(s, d.Process.Pid, s.refuses(s.messenger(), refuse, 3*time.Second))
	})
	t.Run("hangs", func(t *testing.T) {
		s := newStation(t, binary)
		d := s.daemonSeeing("nobody else")
		d.Process.Signal(syscall.SIGSTOP)
		alone(s, d.Process.Pid, s.refuses(s.messenger("--limit", "60s"), refuse, 6*time.Second))
		alone(s, d.Process.Pid, s.refuses(s.messenger("--limit=4s"), refuse, 3200*time.Millisecond))
	})
	t.Run("dies", func(t *testing.T) {
		s := newStation(t, binary)
		d := s.daemonSeeing("nobody else")
		go func() {
			s.await("second")
			d.Process.Kill()
		}()
		a := s.refuses(s.messenger("--limit", "60s"), toolCall("HANG"), 10*time.Second)
		alone(s, d.Process.Pid, a)
		if n := len(s.askers()); n != 2 {
			t.Errorf("the guard was asked %d times", n)
		}
	})
	t.Run("another program", func(t *testing.T) {
		s := newStation(t, binary)
		d := s.daemonSeeing("nobody else")
		d.Process.Signal(syscall.SIGTERM)
		d.Wait()
		yes, err := socket.Listen(d.socket)
		if err != nil {
			t.Fatal(err)
		}
		defer yes.Close()
		var sent sync.Map
		go sayYes(yes, &sent)
		alone(s, 0, s.refuses(s.messenger(), refuse, 3*time.Second))
		sent.Range(func(line, _ any) bool {
			t.Errorf("it was sent %.60q", line)
			return true
		})
	})
	t.Run("foreign folder", func(t *testing.T) {
		if os.Geteuid() != 0 {
			t.Skip("only root can give a folder away")
		}
		s := newStation(t, binary)
		d := s.daemonSeeing("nobody else")
		if err := os.Chown(filepath.Dir(d.socket), victim, victim); err != nil {
			t.Fatal(err)
		}
		alone(s, d.Process.Pid, s.refuses(s.messenger(), refuse, 3*time.Second))
		os.Chown(filepath.Dir(d.socket), 0, 0)
	})
	t.Run("state folder", func(t *testing.T) {
		s := newStation(t, binary)
		d := s.daemonSeeing("nobody else")
		c := s.messenger()
		c.Env = append(c.Env, "XDG_STATE_HOME="+filepath.Join(s.folder, "other"), "XDG_RUNTIME_DIR=")
		alone(s, d.Process.Pid, s.refuses(c, refuse, 3*time.Second))
	})
	t.Run("below a hook", func(t *testing.T) {
		s := newStation(t, binary)
		d := s.daemonSeeing("nobody else")
		c := s.messenger()
		c.Env = append(c.Env, "HOOK_DEPTH=1")
		alone(s, d.Process.Pid, s.refuses(c, refuse, 3*time.Second))
	})
	t.Run("not installed", func(t *testing.T) {
		s := newStation(t, binary)
		d := s.daemonSeeing("nobody else")
		os.Remove(program.Path(s.state()))
		alone(s, d.Process.Pid, s.refuses(s.messenger(), refuse, 3*time.Second))
	})
}

// sayYes answers every line as a daemon would that lets everything pass.
func sayYes(l net.Listener, sent *sync.Map) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			line, _ := bufio.NewReader(c).ReadString('\n')
			if line != "" {
				sent.Store(line, true)
			}
			io.WriteString(c, `{"jsonrpc":"2.0","id":1,"result":{"exit":0,"stdout":"","stderr":""}}`+"\n")
		}()
	}
}

// Time that is over refuses, with a daemon, without one, and while the agent does not even
// close stdin; nothing of the hooks stays.
func TestBridgeIsLate(t *testing.T) {
	t.Parallel()
	const limit = 3 * time.Second
	for _, with := range []string{"a daemon", "none"} {
		t.Run(with, func(t *testing.T) {
			t.Parallel()
			s := newStation(t, binary)
			if with == "a daemon" {
				s.daemonSeeing("nobody else")
			}
			a := s.refuses(s.messenger("--limit=3s"), toolCall("WAIT"), limit)
			if a.took < limit/2 || !strings.Contains(a.stdout+a.stderr, "did not answer in time") {
				t.Errorf("%+v", a)
			}
			if left := hooksAlive(s.box, time.Second); len(left) > 0 {
				t.Errorf("still alive: %v", left)
			}
			c := s.messenger("--limit=3s")
			in, err := c.StdinPipe() // stays open
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			var stdout, stderr bytes.Buffer
			c.Stdout, c.Stderr = &stdout, &stderr
			began := time.Now()
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			io.WriteString(in, `{"session_id":`)
			c.Wait()
			a = answered{stdout.String(), stderr.String(), c.ProcessState.ExitCode(), time.Since(began)}
			if !a.refused() || a.took > limit || a.took < limit/2 {
				t.Errorf("stdin stays open: %+v", a)
			}
		})
	}
}

// Without hookd beside it the messenger can only refuse.
func TestBridgeWithoutHookd(t *testing.T) {
	hookd := copied(t)
	s := newStation(t, hookd)
	if err := os.Remove(hookd); err != nil {
		t.Fatal(err)
	}
	s.refuses(s.messenger(), toolCall("allowed"), time.Second)
	c := s.messenger()
	c.Args = []string{c.Path, "claude", "PreToolUse", "--unknown"}
	s.refuses(c, toolCall("allowed"), time.Second)
}

// An input over the limit is refused, with a daemon or without.
func TestBridgeWithTooMuch(t *testing.T) {
	t.Parallel()
	s := newStation(t, binary)
	d := s.daemonSeeing("nobody else")
	a := s.refuses(s.messenger(), toolCall("allowed "+strings.Repeat("x", 33<<20)), 10*time.Second)
	if !strings.Contains(a.stdout+a.stderr, "too large") && !strings.Contains(a.stdout+a.stderr, "cannot be read") {
		t.Errorf("%.300s %.300s", a.stdout, a.stderr)
	}
	// A large one is for the daemon.
	if a := s.run(s.messenger(), toolCall("allowed "+strings.Repeat("x", 15<<20))); a.refused() || a.code != 0 || !s.byDaemon(d.Process.Pid) {
		t.Errorf("%d %.300s %.300s", a.code, a.stdout, a.stderr)
	}
}

// SIGTERM ends the messenger at once, and the daemon the hooks.
func TestBridgeEndsAtOnce(t *testing.T) {
	s := newStation(t, binary)
	s.daemonSeeing("nobody else")
	c := s.messenger()
	c.Stdin = strings.NewReader(toolCall("HANG"))
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	s.await("second")
	began := time.Now()
	c.Process.Signal(syscall.SIGTERM)
	c.Wait()
	if took := time.Since(began); took > 250*time.Millisecond {
		t.Errorf("it took %v", took)
	}
	if left := hooksAlive(s.box, time.Second); len(left) > 0 {
		t.Errorf("still alive: %v", left)
	}
}

// status returns the process of the daemon that was started on demand, 0 without one.
func (s *station) status() int {
	c := s.command("serve", "--socket", "--status")
	c.Path = s.hookd
	out, _ := c.Output()
	_, number, _ := strings.Cut(string(out), "process ")
	pid, _ := strconv.Atoi(strings.TrimSpace(number))
	return pid
}

// awaitDaemon waits for a daemon that is another process than before.
func (s *station) awaitDaemon(before int) int {
	s.t.Helper()
	for range 500 {
		if pid := s.status(); pid != 0 && pid != before {
			return pid
		}
		time.Sleep(20 * time.Millisecond)
	}
	s.t.Fatal("no daemon was started")
	return 0
}

func (s *station) stop() {
	s.t.Helper()
	c := s.command("serve", "--socket", "--stop")
	c.Path = s.hookd
	if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "has ended") {
		s.t.Errorf("%v: %s", err, out)
	}
}

// Messengers that find no daemon have one started, however many they are. It outlives them,
// holds nothing of theirs, is seen, and ended.
func TestBridgeStartsOneDaemon(t *testing.T) {
	s := newStation(t, binary)
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() { s.refuses(s.messenger("--start", "--limit=60s"), toolCall("git push --force"), 20*time.Second) })
	}
	all.Wait() // stdout and stderr of all of them are closed
	pid := s.awaitDaemon(0)
	defer s.stop()
	s.refuses(s.messenger("--start"), toolCall("git push --force"), 3*time.Second)
	if !s.byDaemon(pid) {
		t.Errorf("the guard was asked by %v, not by %d", s.askers(), pid)
	}
	time.Sleep(300 * time.Millisecond) // those that came second have ended
	daemons := 0
	for _, one := range alive(s.folder) {
		if strings.Contains(one, " serve --socket") {
			daemons++
		}
	}
	if os.Geteuid() == 0 && daemons != 1 { // another user's daemon hides its environment
		t.Errorf("%d daemons: %v", daemons, alive(s.folder))
	}
	fds, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	for _, fd := range fds {
		if to, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", pid, fd.Name())); strings.HasPrefix(to, "pipe:") && len(fd.Name()) == 1 && fd.Name() < "3" {
			t.Errorf("descriptor %s of the daemon is %s", fd.Name(), to)
		}
	}
	if session, err := unix.Getsid(pid); err != nil || session != pid {
		t.Errorf("session %d of process %d, %v", session, pid, err)
	}
}

// The daemon of a hookd that was replaced makes room for one of the new program.
func TestBridgeAfterAnUpdate(t *testing.T) {
	hookd := copied(t)
	s := newStation(t, hookd)
	s.refuses(s.messenger("--start"), toolCall("git push --force"), 3*time.Second)
	old := s.awaitDaemon(0)
	text, err := os.ReadFile(hookd)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hookd+".new", append(text, "newer"...), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(hookd+".new", hookd); err != nil {
		t.Fatal(err)
	}
	s.refuses(s.messenger("--start"), toolCall("git push --force"), 3*time.Second)
	if s.byDaemon(old) {
		t.Error("the old daemon was asked")
	}
	now := 0
	for range 100 {
		s.refuses(s.messenger("--start"), toolCall("git push --force"), 3*time.Second)
		if now = s.status(); now != 0 && now != old && s.byDaemon(now) {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if now == 0 || now == old || !s.byDaemon(now) {
		t.Errorf("asked by %v, the daemon is %d", s.askers(), now)
	}
	s.stop()
}

// A daemon that nobody uses ends by itself.
func TestDaemonEndsUnused(t *testing.T) {
	t.Parallel()
	s := newStation(t, binary)
	d := s.daemonSeeing("nobody else", "--idle", "1s")
	began := time.Now()
	time.Sleep(600 * time.Millisecond)
	s.refuses(s.messenger(), toolCall("git push --force"), 3*time.Second)
	if err := d.Wait(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took < 1500*time.Millisecond || took > 8*time.Second {
		t.Errorf("it ended after %v", took)
	}
	if !s.byDaemon(d.Process.Pid) {
		t.Errorf("it was not asked, but %v", s.askers())
	}
}
