package integration

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// otherUser is a user of whom no system has anything.
const otherUser = 54321

// account is a user of a machine of its own: a folder with home, state, a project and
// hookd, and where it is to have one, a control group that it owns.
type account struct {
	uid    int
	folder string
	group  string // its control group, "" for ours
	path   string // PATH
}

// newAccount makes one who is us, or another user, and who owns a control group or
// has none that it can write to.
func newAccount(t *testing.T, uid int, ownsGroup bool) *account {
	t.Helper()
	if uid != os.Getuid() && os.Getuid() != 0 {
		t.Skip("only root can be another user")
	}
	folder, err := os.MkdirTemp("", "hookd-person-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if left := aliveAfter(folder, 2*time.Second); len(left) > 0 {
			t.Errorf("left alive: %s", strings.Join(left, "; "))
		}
		os.RemoveAll(folder)
	})
	p := &account{uid: uid, folder: folder}
	program, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	p.write(t, "bin/hookd", string(program))
	for _, name := range []string{"home/.acai/hooks/x", "state/x", "proj/.acai/hooks/x"} {
		p.write(t, name, "")
		os.Remove(filepath.Join(folder, name))
	}
	p.path = filepath.Join(folder, "bin") + ":" + os.Getenv("PATH")
	if ownsGroup {
		p.group = ownedGroup(t, uid)
	}
	return p
}

// write makes a file of the person's, that everybody may run.
func (p *account) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(p.folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	// A process that another test starts meanwhile would keep the open file, and a program
	// that is open for writing cannot be started.
	syscall.ForkLock.RLock()
	err := os.WriteFile(path, []byte(text), 0o755)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	for at := path; strings.HasPrefix(at, p.folder); at = filepath.Dir(at) {
		if err := os.Chown(at, p.uid, p.uid); err != nil && os.Getuid() == 0 {
			t.Fatal(err)
		}
		if at != path {
			os.Chmod(at, 0o755)
		}
	}
}

// command is one of the person's, in its project.
func (p *account) command(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command(name, args...)
	c.Dir = filepath.Join(p.folder, "proj")
	c.Env = []string{"PATH=" + p.path, "HOME=" + filepath.Join(p.folder, "home"), "XDG_STATE_HOME=" + filepath.Join(p.folder, "state"), "SECRET_KEY=canary-of-the-host"}
	c.SysProcAttr = &syscall.SysProcAttr{}
	if p.uid != os.Getuid() {
		c.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(p.uid), Gid: uint32(p.uid)}
	}
	if p.group != "" {
		folder, err := os.Open(p.group)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { folder.Close() })
		c.SysProcAttr.UseCgroupFD, c.SysProcAttr.CgroupFD = true, int(folder.Fd())
	}
	return c
}

// hookd runs hookd as the person and returns what it prints and its exit code.
func (p *account) hookd(t *testing.T, args ...string) (string, int) {
	t.Helper()
	c := p.command(t, filepath.Join(p.folder, "bin", "hookd"), args...)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	c.WaitDelay = 5 * time.Second
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	slow := time.AfterFunc(90*time.Second, func() { c.Process.Kill() })
	c.Wait()
	if !slow.Stop() {
		t.Errorf("hookd %s did not end", strings.Join(args, " "))
	}
	return out.String(), c.ProcessState.ExitCode()
}

func (p *account) read(name string) string {
	text, _ := os.ReadFile(filepath.Join(p.folder, name))
	return string(text)
}

// cgroupMount is where version 2 of the control groups lies, "" if nowhere.
func cgroupMount() string {
	text, _ := os.ReadFile("/proc/self/mountinfo")
	for line := range strings.Lines(string(text)) {
		if before, after, _ := strings.Cut(line, " - "); strings.HasPrefix(after, "cgroup2 ") {
			return strings.Fields(before)[4]
		}
	}
	return ""
}

// ownedGroup is a control group of a user, as systemd delegates them.
func ownedGroup(t *testing.T, uid int) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can delegate a control group")
	}
	top := cgroupMount()
	if top == "" {
		t.Skip("no control groups of version 2 here")
	}
	dir, err := os.MkdirTemp(top, "hookd-test-")
	if err != nil {
		t.Skipf("no control group can be made here: %v", err)
	}
	t.Cleanup(func() {
		for end := time.Now().Add(5 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			err := removeGroups(dir)
			if err == nil {
				return
			}
			if time.Now().After(end) {
				t.Errorf("the control group is not empty: %v", err)
				return
			}
		}
	})
	os.Chmod(dir, 0o755)
	for _, name := range []string{"", "cgroup.procs", "cgroup.threads", "cgroup.subtree_control"} {
		if err := os.Chown(filepath.Join(dir, name), uid, uid); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func removeGroups(dir string) error {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if e.IsDir() {
			if err := removeGroups(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return os.Remove(dir)
}

// accounts are the ways in which a user's processes are held: as root and as
// another, with a control group of its own and without.
func accounts(t *testing.T, do func(t *testing.T, p *account)) {
	for _, who := range []struct {
		name  string
		uid   int
		group bool
	}{
		{"us", os.Getuid(), false},
		{"another user", otherUser, false},
		{"another user with a control group", otherUser, true},
	} {
		t.Run(who.name, func(t *testing.T) {
			t.Parallel()
			do(t, newAccount(t, who.uid, who.group))
		})
	}
}

// leaveGroup is a line of shell: it moves the shell out of its control group to
// each of those above that take it.
const leaveGroup = `g=$(sed -n 's/^0:://p' /proc/self/cgroup); while [ "${g%/}" ]; do g=${g%/*}; { echo $$ >"CGROUPS$g/cgroup.procs"; } 2>/dev/null; done; `

func withGroups(script string) string {
	return strings.ReplaceAll(script, "CGROUPS", cgroupMount())
}

// toolCall writes a scripted model that has one command run.
func (p *account) toolCall(t *testing.T, command string) {
	t.Helper()
	p.write(t, "proj/model.yaml", fmt.Sprintf("turns:\n  - toolCalls:\n      - {name: bash, args: {command: %q}}\n  - text: done\n", command))
}
