package integration

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Two users that no system has.
const (
	victim   = 54321
	attacker = 54322
)

// users is a folder in which two users who are not root work, and a hookd that
// both can run.
type users struct {
	t           *testing.T
	top, binary string
}

func newUsers(t *testing.T) *users {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can work as two other users")
	}
	lookAtSources(t)
	top, err := os.MkdirTemp("/tmp", "hookd-users-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(top) })
	u := &users{t, top, filepath.Join(top, "hookd")}
	os.Chmod(top, 0o755)
	text, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(u.binary, text, 0o755); err != nil {
		t.Fatal(err)
	}
	u.folder("home", victim, 0o755)
	u.folder("shared", 0, 0o777|os.ModeSticky)
	return u
}

func (u *users) folder(name string, owner int, mode os.FileMode) string {
	u.t.Helper()
	path := filepath.Join(u.top, name)
	if err := os.MkdirAll(path, 0o755); err != nil {
		u.t.Fatal(err)
	}
	for at := path; at != u.top; at = filepath.Dir(at) {
		if st, err := os.Stat(at); err == nil && st.Sys().(*syscall.Stat_t).Uid == 0 && st.Mode()&os.ModeSticky == 0 {
			os.Chown(at, owner, owner)
		}
	}
	os.Chmod(path, mode)
	return path
}

func (u *users) file(name, text string, owner int, mode os.FileMode) {
	u.t.Helper()
	u.folder(filepath.Dir(name), owner, 0o755)
	path := filepath.Join(u.top, name)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		u.t.Fatal(err)
	}
	os.Chown(path, owner, owner)
	os.Chmod(path, mode)
}

// hookd runs hookd as the victim in a folder.
func (u *users) hookd(dir string, args ...string) (out string, code int) {
	u.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, u.binary, args...)
	c.Dir = filepath.Join(u.top, dir)
	c.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + filepath.Join(u.top, "home"), "NO_COLOR=1"}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: victim, Gid: victim}}
	var text bytes.Buffer
	c.Stdout, c.Stderr = &text, &text
	_ = c.Run()
	return text.String(), c.ProcessState.ExitCode()
}

const plantedHook = "#!/bin/sh\n# hook: events=*\nid -u >>"

// What another user puts above, beside or below a person's work never runs and
// never counts; where a person relied on it, that is said.
func TestAnotherUsersFoldersDoNotCount(t *testing.T) {
	u := newUsers(t)
	mark := filepath.Join(u.top, "shared", "mark")
	planted := func(folder string, owner int) {
		u.file(folder+"/.acai/hooks/evil.sh", plantedHook+mark+"\n", owner, 0o755)
		u.file(folder+"/.acai/acai.json", `{"agent":{"model":"scripted:`+filepath.Join(u.top, folder)+`/evil.yaml"}}`, owner, 0o644)
		u.file(folder+"/evil.yaml", "turns:\n- toolCalls: [{name: bash, args: {command: \"id -u >>"+mark+"\"}}]\n- text: done\n", owner, 0o644)
	}
	// In a shared folder, as in /tmp: of the attacker, and even of root.
	planted("shared/work/deep", attacker)
	for _, owner := range []int{attacker, 0} {
		u.file("shared/.acai/acai.json", `{"agent":{"limits":{"steps":1}}}`, owner, 0o644)
		u.file("shared/.acai/hooks/evil.sh", plantedHook+mark+"\n", owner, 0o755)
		u.folder("shared/mine", victim, 0o755)
		if out, code := u.hookd("shared/mine", "fire", "session-start"); code != 0 || !strings.Contains(out, "do not count") {
			t.Errorf("below a shared folder with .acai of %d: code %d\n%s", owner, code, out)
		}
		if out, _ := u.hookd("shared/mine", "trust", "--yes"); !strings.Contains(out, "nothing of this project counts") {
			t.Errorf("trust does not say what was passed over:\n%s", out)
		}
		os.RemoveAll(filepath.Join(u.top, "shared", ".acai"))
	}
	// In the attacker's own folder, which the victim walks into.
	for _, args := range [][]string{{"fire", "session-start"}, {"run", "--allow", "bash,write,mcp", "go"}, {"trust", "--yes"}, {"fire", "session-start"}} {
		u.hookd("shared/work/deep", args...)
	}
	// The victim's project, where the attacker was given a part.
	for _, part := range []string{".acai", ".acai/hooks", ".acai/hooks/mine.sh", ".acai/acai.json"} {
		u.file("home/p/.acai/hooks/mine.sh", "#!/bin/sh\n# hook: events=tool-call-start can=block\necho '{\"action\":\"block\",\"reason\":\"mine\"}'\n", victim, 0o755)
		u.file("home/p/.acai/acai.json", `{"agent":{"limits":{"steps":9}}}`, victim, 0o644)
		if out, code := u.hookd("home/p", "trust", "--yes"); code != 0 {
			t.Fatalf("%s", out)
		}
		os.Chown(filepath.Join(u.top, "home/p", part), attacker, attacker)
		out, code := u.hookd("home/p", "fire", "tool-call-start")
		if code != 2 {
			t.Errorf("%s belongs to the attacker: code %d\n%s", part, code, out)
		}
		if out, _ := u.hookd("home/p", "check"); !strings.Contains(out, "belongs to another user") {
			t.Errorf("%s: check does not say why:\n%s", part, out)
		}
		os.RemoveAll(filepath.Join(u.top, "home/p/.acai"))
		u.hookd("home/p", "trust", "--yes")
	}
	if text, err := os.ReadFile(mark); err == nil {
		t.Errorf("something of the attacker ran as %s", text)
	}
}
