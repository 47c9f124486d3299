package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/test/prove"
)

// asFirst runs hookd as the first process of a container would be: in a PID
// namespace of its own, with its own /proc, and with control groups, without, or as
// another user.
func asFirst(t *testing.T, p *account, how string, args ...string) *exec.Cmd {
	t.Helper()
	script := map[string]string{
		"with control groups":    `exec "$@"`,
		"without control groups": `mount -t tmpfs none ` + cgroupMount() + ` && exec "$@"`,
		"as another user":        fmt.Sprintf(`exec setpriv --reuid %d --regid %d --clear-groups "$@"`, otherUser, otherUser),
	}[how]
	line := append([]string{"--mount", "--pid", "--fork", "--mount-proc", "--kill-child", "sh", "-c", script, "sh", filepath.Join(p.folder, "bin", "hookd")}, args...)
	root := *p // who may make namespaces
	root.uid = 0
	c := root.command(t, "unshare", line...)
	c.WaitDelay = 5 * time.Second
	return c
}

// firstBelow is the first process that unshare has started. It ends with the test:
// who becomes another user forgets that it was to die with its parent.
func firstBelow(t *testing.T, unshare int) *os.Process {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if first, _ := offspring(t, unshare); len(first) == 1 {
			process, err := os.FindProcess(first[0]) // and no other that gets its number
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { process.Kill(); process.Release() })
			return process
		}
	}
	t.Fatal("unshare has started nothing")
	return nil
}

var firsts = []string{"with control groups", "without control groups", "as another user"}

func needsNamespaces(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can begin a container here")
	}
	if out, err := exec.Command("unshare", "--mount", "--pid", "--fork", "--mount-proc", "setpriv", "--reuid", fmt.Sprint(otherUser), "true").CombinedOutput(); err != nil {
		t.Skipf("no namespaces here: %v %s", err, out)
	}
}

func firstAccount(t *testing.T, how string) *account {
	t.Helper()
	if how == "as another user" {
		return newAccount(t, otherUser, false)
	}
	return newAccount(t, 0, false)
}

// offspring lists the processes whose parent is one of the given, dead ones too.
func offspring(t *testing.T, parent int) (pids []int, zombies int) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		_, after, _ := strings.Cut(string(stat), ") ")
		if fields := strings.Fields(after); len(fields) > 1 && fields[1] == strconv.Itoa(parent) {
			pids = append(pids, pid)
			if fields[0] == "Z" {
				zombies++
			}
		}
	}
	return pids, zombies
}

// TestFirstProcessReaps: as the entry point of a container hookd gets every orphan,
// and leaves none of them dead in the process table.
func TestFirstProcessReaps(t *testing.T) {
	needsNamespaces(t)
	events := prove.Size(60, 300)
	for _, how := range firsts {
		t.Run(how, func(t *testing.T) {
			p := firstAccount(t, how)
			p.write(t, "home/.acai/hooks/orphans.sh", "#!/bin/sh\n"+
				"# hook: events=prompt-submit can=observe required=true onFailure=block timeout=20s\n"+
				"(setsid sleep 0.02 >&- 2>&- &)\n(setsid sh -c 'sleep 0.01 & exec sleep 0.1' >&- 2>&- &)\nexit 0\n")
			k := serveBy(t, &box{folder: p.folder, project: filepath.Join(p.folder, "proj")}, asFirst(t, p, how, "serve"))
			first := firstBelow(t, k.cmd.Process.Pid)
			began := time.Now()
			for range events {
				var answer struct {
					Result struct{ Action string }
				}
				if k.into(k.call("event/fire", k.event("go")), &answer); answer.Result.Action != "observe" {
					t.Fatalf("the event was not passed: %+v", answer)
				}
			}
			took := time.Since(began)
			zombies := 0
			for end := time.Now().Add(5 * time.Second); ; time.Sleep(50 * time.Millisecond) {
				if _, zombies = offspring(t, first.Pid); zombies == 0 || time.Now().After(end) {
					break
				}
			}
			if zombies > 0 {
				t.Errorf("%d zombies after %d events", zombies, events)
			}
			prove.Figure(t, "G2", "process 1 %s: %d events whose hooks each leave three orphans: %d zombies, %s an event", how, events, zombies, (took / time.Duration(events)).Round(10*time.Microsecond))
		})
	}
}

// TestFirstProcessEnds: the kernel ignores signals to the first process of a
// container that it does not ask for; hookd asks.
func TestFirstProcessEnds(t *testing.T) {
	t.Parallel()
	needsNamespaces(t)
	for _, how := range firsts {
		for _, command := range []string{"serve", "run"} {
			for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
				t.Run(fmt.Sprintf("%s/%s/%s", how, command, signal), func(t *testing.T) {
					t.Parallel()
					p := firstAccount(t, how)
					p.write(t, "home/.acai/hooks/slow.sh", "#!/bin/sh\n# hook: events=prompt-submit can=block timeout=60s\n(setsid sleep 61 &)\ntouch \"$HOOK_PROJECT_DIR/started\"\nexec sleep 61\n")
					var c *exec.Cmd
					if command == "serve" {
						k := serveBy(t, &box{folder: p.folder, project: filepath.Join(p.folder, "proj")}, asFirst(t, p, how, "serve"))
						k.send("event/fire", k.event("go"))
						c = k.cmd
					} else {
						p.toolCall(t, "true")
						c = startIn(t, asFirst(t, p, how, "run", "--allow", "bash,write,mcp", "go", "--model", "scripted:model.yaml"))
					}
					first := firstBelow(t, c.Process.Pid)
					for wait := time.Now(); p.read("proj/started") == "" && !exists(filepath.Join(p.folder, "proj", "started")); time.Sleep(10 * time.Millisecond) {
						if time.Since(wait) > 20*time.Second {
							t.Fatal("the hook was not started")
						}
					}
					began := time.Now()
					first.Signal(signal)
					ended := make(chan struct{})
					go func() { c.Wait(); close(ended) }()
					select {
					case <-ended:
						t.Logf("ended %s after the signal", time.Since(began).Round(time.Millisecond))
					case <-time.After(15 * time.Second):
						t.Errorf("still there 15 s after %s", signal)
					}
				})
			}
		}
	}
}
