package process

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/test/prove"
)

// A stand-in for hookd that is nothing else: it runs a script to its end, starts a
// program in another way meanwhile, says how that ended, and lives on. Arguments:
// containment, script.
func init() {
	programs["sole"] = func(args []string) {
		Harden()
		rt, err := New(Options{Containment: Kind(args[0]), LongLived: true, OwnsAllChildren: true})
		if err != nil {
			fmt.Println("failed:", err)
			return
		}
		beside := exec.Command("/bin/sh", "-c", "sleep 0.3; exit 7")
		beside.Start()
		r := rt.Run(context.Background(), shell(args[1]))
		<-r.Gone
		time.Sleep(300 * time.Millisecond)
		beside.Wait()
		fmt.Println("said", string(r.Stdout), r.Err, "beside", beside.ProcessState.ExitCode())
		bufio.NewReader(os.Stdin).ReadString('\n')
		fmt.Println("closed:", rt.Close())
	}
}

// TestOwnsAllChildren: what left everything that it could be known by is ended with the only
// program that it can be from, every orphan is reaped, and anyone else who starts a
// program gets its exit code. A guardian that is stopped is replaced.
func TestOwnsAllChildren(t *testing.T) {
	needs(t, "setsid", "env")
	var under []string
	for _, kind := range []Kind{Cgroup, Subreaper} {
		t.Run(string(kind), func(t *testing.T) {
			seconds := fmt.Sprintf("61.%d", time.Now().UnixNano()) // known by its arguments only
			script := leaveGroup + `(setsid env -i sleep ` + seconds + ` >&- 2>&- &); (setsid sleep 0.05 >&- 2>&- &); sleep 0.1; echo ok`
			c := self(t, "sole", string(kind), script)
			cmd := exec.Command(c.Path, c.Argv[1:]...)
			in, _ := cmd.StdinPipe()
			out, _ := cmd.StdoutPipe()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
			lines := bufio.NewScanner(out)
			lines.Scan()
			if strings.HasPrefix(lines.Text(), "failed:") {
				t.Skip(lines.Text())
			}
			if !strings.HasPrefix(lines.Text(), "said ok") {
				t.Fatalf("it said %q", lines.Text())
			}
			lines.Scan()
			if !strings.HasSuffix(lines.Text(), "<nil> beside 7") {
				t.Errorf("what was started beside ended: %q", lines.Text())
			}
			var left []string
			table, _ := processTable()
			for _, e := range table {
				line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", e.pid))
				if e.zombie && e.parent == cmd.Process.Pid || string(line) == "sleep\x00"+seconds+"\x00" {
					left = append(left, fmt.Sprintf("%d %q zombie=%v", e.pid, line, e.zombie))
					killEntry(e)
				}
			}
			if len(left) > 0 {
				t.Errorf("left: %v", left)
			}
			first := guardianOf(t, cmd.Process.Pid)
			syscall.Kill(first, syscall.SIGSTOP)
			for end := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
				if g := guardianOf(t, cmd.Process.Pid); g != 0 && g != first {
					break
				}
				if time.Now().After(end) {
					t.Fatal("a stopped guardian stays")
				}
			}
			fmt.Fprintln(in)
			lines.Scan()
			if lines.Text() != "closed: <nil>" {
				t.Errorf("%q", lines.Text())
			}
			under = append(under, string(kind))
		})
	}
	prove.Figure(t, "G2", "an orphan without mark, session, group or control group of its program, under %s in a process that owns its children: ended, 0 zombies", strings.Join(under, " and "))
}
