package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/test/prove"
)

// A stand-in for hookd: it runs the script given, twice at once, and says when
// they run. Arguments: containment, "long" or "short", script, mark.
func init() {
	programs["hookd"] = func(args []string) {
		rt, err := New(Options{Containment: Kind(args[0]), LongLived: args[1] == "long"})
		if err != nil {
			fmt.Println("failed:", err)
			return
		}
		for range 2 {
			c := shell(args[2])
			c.Env, c.EnvTag = append(c.Env, args[3]), args[3]
			go rt.Run(context.Background(), c)
		}
		if groups, ok := rt.mechanism.containment.(*cgroups); ok {
			fmt.Println("cgroup", groups.dir)
		}
		time.Sleep(400 * time.Millisecond)
		fmt.Println("running")
		time.Sleep(time.Minute)
	}
}

// startHookd starts the stand-in and returns when its programs run, with the
// folder of its control group if it has one.
func startHookd(t *testing.T, kind Kind, life, script, mark string) (*exec.Cmd, string) {
	t.Helper()
	c := self(t, "hookd", string(kind), life, script, mark)
	return startStandIn(t, exec.Command(c.Path, c.Argv[1:]...))
}

func startStandIn(t *testing.T, cmd *exec.Cmd) (*exec.Cmd, string) {
	t.Helper()
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	group := ""
	for in := bufio.NewScanner(output); in.Scan(); {
		if dir, ok := strings.CutPrefix(in.Text(), "cgroup "); ok {
			group = dir
		}
		if in.Text() == "running" {
			return cmd, group
		}
	}
	t.Fatal("the stand-in for hookd did not start")
	return nil, ""
}

// TestGuardian is G17 and H49: after kill -9 of a long-lived hookd nothing of its
// programs is alive within a second, and of a short-lived one the programs
// themselves are dead.
func TestGuardian(t *testing.T) {
	needs(t, "setsid")
	const (
		script = `trap '' TERM HUP; sleep 61 & (setsid sleep 61 &); while :; do sleep 0.1; done`
		leaves = `(` + leaveGroup + `setsid sleep 61 &); ` + script
	)
	var sum tally
	t.Cleanup(func() {
		prove.Figure(t, "G17", "%d × kill -9 of a runtime with two hooks' trees: %d survivors after 1 s", sum.rounds, sum.survivors)
	})
	for i, options := range available(t) {
		if options.portable {
			continue
		}
		full := 5
		if i == 0 {
			full = 50
		}
		for _, life := range []string{"long", "short"} {
			t.Run(options.name()+"/"+life, func(t *testing.T) {
				t.Parallel()
				does := script
				if life == "long" { // the parent-death signal does not reach what left
					does = leaves
				}
				for range count(1, full) {
					kill9(t, options.Containment, life, does, &sum)
				}
			})
		}
	}
}

func kill9(t *testing.T, kind Kind, life, script string, sum *tally) {
	t.Helper()
	mark := "PROCESS_TEST=" + string(kind) + life + fmt.Sprint(time.Now().UnixNano())
	hookd, group := startHookd(t, kind, life, script, mark)
	for end := time.Now().Add(10 * time.Second); len(survivors(mark)) < 6; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("only %v run", survivors(mark))
		}
	}
	hookd.Process.Signal(syscall.SIGKILL)
	hookd.Wait()
	died := time.Now()
	for {
		left := survivors(mark)
		if life == "short" {
			left = only(left, "while :")
		}
		if len(left) == 0 {
			sum.add(0, nil)
			break
		}
		if time.Since(died) > time.Second+late() {
			sum.add(0, left)
			t.Errorf("a second after its death: %v", left)
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if life == "long" && group != "" {
		time.Sleep(late())
		if _, err := os.Stat(group); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("control group %s is still there: %v", group, err)
		}
	}
	// What a short-lived one leaves, the next hookd that starts ends.
	// One that begins at the same moment may hold the group's lock to end it, so this one
	// leaves it alone. Either of them ends it.
	for end := time.Now().Add(5 * time.Second); group != "" && marksAnything(mark) && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		removeStale(filepath.Dir(group))
	}
	table, _ := processTable()
	for _, e := range table {
		if hasMark(e.pid, mark) {
			if group != "" {
				t.Errorf("process %d outlived the removal of stale groups", e.pid)
			}
			killEntry(e)
		}
	}
}

func marksAnything(mark string) bool {
	table, _ := processTable()
	return slices.ContainsFunc(table, func(e entry) bool { return hasMark(e.pid, mark) })
}

func only(list []string, part string) []string {
	var kept []string
	for _, s := range list {
		if strings.Contains(s, part) {
			kept = append(kept, s)
		}
	}
	return kept
}

// TestGuardianComesBack: a guardian that is killed is replaced, and the new one
// knows what runs.
func TestGuardianComesBack(t *testing.T) {
	for _, kind := range []Kind{Best, Subreaper} {
		mark := "PROCESS_TEST=back" + string(kind) + fmt.Sprint(time.Now().UnixNano())
		hookd, _ := startHookd(t, kind, "long", `trap '' TERM; sleep 61 & sleep 61`, mark)
		first := guardianOf(t, hookd.Process.Pid)
		syscall.Kill(first, syscall.SIGKILL)
		for end := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			if g := guardianOf(t, hookd.Process.Pid); g != 0 && g != first {
				break
			}
			if time.Now().After(end) {
				t.Fatal("no new guardian")
			}
		}
		time.Sleep(100 * time.Millisecond)
		hookd.Process.Kill()
		hookd.Wait()
		for end := time.Now().Add(time.Second + late()); len(survivors(mark)) > 0; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("survivors: %v", survivors(mark))
			}
		}
	}
}

// TestGuardianIsTriedAgain: a guardian that is killed while no other one can be started
// is replaced when one can.
func TestGuardianIsTriedAgain(t *testing.T) {
	rt, err := New(Options{LongLived: true})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	if kind := rt.Containment().Kind; kind == "" {
		t.Fatal("no containment")
	}
	first := guardianOf(t, os.Getpid())
	if first == 0 {
		t.Fatal("no guardian")
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	none := syscall.Rlimit{Cur: 3, Max: limit.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	syscall.Kill(first, syscall.SIGKILL)
	time.Sleep(2 * guardianPause)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if g := guardianOf(t, os.Getpid()); g != 0 && g != first {
			break
		}
		if time.Now().After(end) {
			t.Fatal("no new guardian")
		}
	}
}

// TestGuardianUnderALimitOfFileSizes: where files may have few bytes, the guardian knows
// fewer programs, and ends them all the same.
func TestGuardianUnderALimitOfFileSizes(t *testing.T) {
	needs(t, "sh")
	mark := "PROCESS_TEST=fsize" + fmt.Sprint(time.Now().UnixNano())
	c := self(t, "hookd", string(Best), "long", `trap '' TERM; sleep 61 & sleep 61`, mark)
	limited := []string{"-c", `ulimit -f 20; exec "$0" "$@"`}
	hookd, _ := startStandIn(t, exec.Command("sh", append(limited, c.Argv...)...))
	if left := survivors(mark); len(left) < 4 {
		t.Fatalf("only %v run", left)
	}
	hookd.Process.Kill()
	hookd.Wait()
	for end := time.Now().Add(time.Second + late()); len(survivors(mark)) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("survivors: %v", survivors(mark))
		}
	}
}

func guardianOf(t *testing.T, parent int) int {
	t.Helper()
	table, _ := processTable()
	for _, e := range table {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", e.pid))
		if e.parent == parent && !e.zombie && strings.HasPrefix(string(line), guardianName) {
			return e.pid
		}
	}
	return 0
}

// TestGuardianKnowsTheTag: a hookd that is killed while it starts a program has
// told no more than the mark of it.
func TestGuardianKnowsTheTag(t *testing.T) {
	needs(t, "sleep")
	shared, err := newSharedTable()
	if err != nil {
		t.Fatal(err)
	}
	defer shared.close()
	g := &guardian{table: shared, cgroup: -1, runs: make(map[int]int)}
	theirs, ours, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	g.pipe = ours
	for range 2 {
		c := shell("")
		mark := marked(c)
		begun := &sweptContainer{tree: tree{envTag: mark}}
		run := g.begins(begun)
		if len(g.runs) != 1 {
			t.Fatalf("the guardian knows %v", g.runs)
		}
		cmd := exec.Command("sleep", "61")
		cmd.Env, cmd.SysProcAttr = c.Env, &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if run == 1 { // and ended
			g.ended(run)
			cmd.Process.Kill()
			cmd.Wait()
			continue
		}
		ours.Close()
		w := guardianProcess{table: shared}
		w.wait(theirs)
		trees, _ := shared.read()
		if len(trees) != 1 {
			t.Errorf("%d trees", len(trees))
		}
		endTrees(trees)
		if left := survivors(mark); len(left) > 0 {
			t.Errorf("survivors: %v", left)
		}
		cmd.Process.Kill()
		cmd.Wait()
	}
}

// TestOwnCgroup reads the ways in which version 2 is mounted.
func TestOwnCgroup(t *testing.T) {
	tests := map[string]struct{ mounts, membership, want string }{
		"unified": {
			"29 22 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
			"0::/user.slice/a.scope\n", "/sys/fs/cgroup/user.slice/a.scope",
		},
		"hybrid": {
			"31 30 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n40 30 0:37 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
			"4:memory:/x\n0::/\n", "/sys/fs/cgroup/unified",
		},
		"part of the tree": {
			"40 30 0:37 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup rw\n",
			"0::/docker/abc/inner\n", "/sys/fs/cgroup/inner",
		},
		"another part": {
			"40 30 0:37 /docker/ab /sys/fs/cgroup rw - cgroup2 cgroup rw\n",
			"0::/docker/abc\n", "",
		},
		"blank in the path": {
			`40 30 0:37 / /mnt/my\040cg rw - cgroup2 cgroup rw` + "\n",
			"0::/a\n", "/mnt/my cg/a",
		},
		"outside the namespace": {"40 30 0:37 / /sys/fs/cgroup rw - cgroup2 c rw\n", "0::/../x\n", ""},
		"version 1 only":        {"31 30 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n", "4:memory:/x\n", ""},
		"not mounted":           {"", "0::/\n", ""},
	}
	for name, test := range tests {
		dir := t.TempDir()
		for file, text := range map[string]string{"mounts": test.mounts, "membership": test.membership} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got, err := ownCgroup(filepath.Join(dir, "mounts"), filepath.Join(dir, "membership"))
		if got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestParseStat(t *testing.T) {
	const tail = " S 7 8 9 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 1 2\n"
	for _, name := range []string{"sh", "a) b", ") S 1 1 1 (", "\n"} {
		e, ok := parseStat(3, []byte("3 ("+name+")"+tail))
		if !ok || e != (entry{pid: 3, parent: 7, group: 8, session: 9, start: 4711, name: name}) {
			t.Errorf("%q: %+v, %v", name, e, ok)
		}
	}
	dead := func(threads string) string {
		return "3 (sh)" + strings.Replace(strings.Replace(tail, " S ", " Z ", 1), " 20 0 1 ", " 20 0 "+threads+" ", 1)
	}
	if e, _ := parseStat(3, []byte(dead("1"))); !e.zombie || e.headless {
		t.Errorf("one thread: %+v", e)
	}
	if e, _ := parseStat(3, []byte(dead("2"))); e.zombie || !e.headless {
		t.Errorf("another thread lives: %+v", e)
	}
	for bounds, want := range map[string]environState{"0 0": environNone, "70 70": environEmpty, "70 90": environThere} {
		long := "3 (sh)" + strings.TrimSpace(tail) + strings.Repeat(" 1", 25) + " " + bounds + " 0\n"
		if e, ok := parseStat(3, []byte(long)); !ok || e.environ != want {
			t.Errorf("environment at %s: %+v", bounds, e)
		}
	}
	for _, broken := range []string{"", "3 (sh", "3 (sh) S 1", "3 (sh)" + strings.Replace(tail, "7", "x", 1)} {
		if _, ok := parseStat(3, []byte(broken)); ok {
			t.Errorf("%q was read", broken)
		}
	}
}

// TestSharedTable: what is written is read, a slot that was given back is used again, and a
// full table takes no more.
func TestSharedTable(t *testing.T) {
	shared, err := newSharedTable()
	if err != nil {
		t.Fatal(err)
	}
	defer shared.close()
	g := &guardian{table: shared, cgroup: -1, runs: make(map[int]int)}
	first := g.put(guardRecord{root: 7, start: 8, envTag: "MARK=a b"}.text())
	group := g.put(guardCgroup + "/sys/fs/cgroup/x y")
	trees, cgroup := shared.read()
	if len(trees) != 1 || trees[0].root != 7 || trees[0].start != 8 || trees[0].envTag != "MARK=a b" || cgroup != "/sys/fs/cgroup/x y" {
		t.Errorf("read %+v, %q", trees, cgroup)
	}
	g.clear(first)
	g.clear(group)
	if trees, cgroup := shared.read(); len(trees) > 0 || cgroup != "" {
		t.Errorf("left over: %v, %q", trees, cgroup)
	}
	for range mostSlots {
		if slot := g.put("1 2 MARK=c"); slot < 0 {
			t.Fatal("a table that is not full takes no more")
		}
	}
	if slot := g.put("1 2 MARK=c"); slot != -1 {
		t.Errorf("a full table gives slot %d", slot)
	}
	if trees, _ := shared.read(); len(trees) != mostSlots {
		t.Errorf("%d trees", len(trees))
	}
}
