//go:build interop && unix

package interop

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// box is a home and a project of their own. When the test ends nothing may be
// alive that works in it.
type box struct{ folder, home, project string }

func newBox(t *testing.T) *box {
	t.Helper()
	folder := t.TempDir()
	b := &box{folder: folder, home: filepath.Join(folder, "home"), project: filepath.Join(folder, "proj")}
	for _, f := range []string{filepath.Join(b.home, ".acai", "hooks"), b.project, filepath.Join(folder, "state")} {
		if err := os.MkdirAll(f, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		left := b.alive()
		for end := time.Now().Add(2 * time.Second); len(left) > 0 && time.Now().Before(end); left = b.alive() {
			time.Sleep(20 * time.Millisecond)
		}
		if len(left) > 0 {
			t.Errorf("still alive: %v", left)
		}
	})
	return b
}

// alive are the processes that work in the box, by number, with their command lines.
func (b *box) alive() map[string]string {
	found := map[string]string{}
	folders, _ := filepath.Glob("/proc/[0-9]*")
	for _, proc := range folders {
		cwd, err := os.Readlink(filepath.Join(proc, "cwd"))
		line, _ := os.ReadFile(filepath.Join(proc, "cmdline")) // empty of a process that has ended
		if err == nil && strings.HasPrefix(cwd, b.folder) && len(line) > 0 {
			found[filepath.Base(proc)] = strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

func (b *box) write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(b.folder, path), []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// servers writes agent.mcpServers of the user's settings.
func (b *box) servers(t *testing.T, servers map[string]any) {
	t.Helper()
	text, err := json.Marshal(map[string]any{"agent": map[string]any{"mcpServers": servers}})
	if err != nil {
		t.Fatal(err)
	}
	b.write(t, "home/.acai/acai.json", string(text), 0o600)
}

// said is what tests read of a line of hookd run --json.
type said struct {
	Kind       string          `json:"kind"`
	Text       string          `json:"text"`
	StopReason string          `json:"stopReason"`
	Error      string          `json:"error"`
	Event      json.RawMessage `json:"event"`
}

// talk is hookd run --json with a scripted model, at work.
type talk struct {
	t     *testing.T
	in    io.WriteCloser
	lines chan said
	done  chan error
	all   []string

	mu     sync.Mutex
	stderr bytes.Buffer
}

// Write takes in what hookd writes to stderr.
func (k *talk) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.stderr.Write(p)
}

func (k *talk) told() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.stderr.String()
}

// talk starts a run by a script of turns.
func (b *box) talk(t *testing.T, turns string, env ...string) *talk {
	t.Helper()
	b.write(t, "proj/turns.yaml", turns, 0o600)
	c := exec.Command(binary, "run", "--allow", "bash,write,mcp", "--json", "--model", "scripted:turns.yaml")
	c.Dir = b.project
	c.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.home, "LANG=C.UTF-8", "XDG_STATE_HOME=" + filepath.Join(b.folder, "state"), "TMPDIR=" + b.folder}, env...)
	k := &talk{t: t, lines: make(chan said, 10_000), done: make(chan error, 1)}
	c.Stderr = k
	var err error
	if k.in, err = c.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		scan := bufio.NewScanner(out)
		scan.Buffer(nil, 64<<20)
		for scan.Scan() {
			line := said{Kind: "not JSON: " + scan.Text()}
			if json.Unmarshal(scan.Bytes(), &line) == nil && line.Kind == "event" {
				var event struct{ Event string }
				json.Unmarshal(line.Event, &event)
				line.Text = event.Event
			}
			k.lines <- line
		}
		close(k.lines)
		k.done <- c.Wait()
	}()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("lines:\n%s\nstderr:\n%s", strings.Join(k.all, "\n"), k.told())
			c.Process.Kill()
		}
	})
	return k
}

func (k *talk) say(line string) {
	k.t.Helper()
	if _, err := fmt.Fprintln(k.in, line); err != nil {
		k.t.Fatal(err)
	}
}

// ready waits until the servers that run in the box have started: they are there,
// and have all but stopped working. The first prompt waits for them too, but not for as
// long as a busy machine may need.
func (b *box) ready(t *testing.T, program string) {
	t.Helper()
	const pause, idle = 1500 * time.Millisecond, 5 // in hundredths of a second
	before, worked := b.working(program)
	for began := time.Now(); time.Since(began) < time.Minute; {
		time.Sleep(pause)
		now, all := b.working(program)
		if now != "" && now == before && all-worked <= idle {
			return
		}
		before, worked = now, all
	}
	t.Fatalf("%s does not start", program)
}

// working returns the processes in the box whose line has the program in it, and how much
// processor time they have taken, in hundredths of a second.
func (b *box) working(program string) (pids string, all int) {
	alive := b.alive()
	for _, pid := range slices.Sorted(maps.Keys(alive)) {
		if !strings.Contains(alive[pid], program) {
			continue
		}
		text, _ := os.ReadFile(filepath.Join("/proc", pid, "stat"))
		if _, rest, found := strings.Cut(string(text), ") "); found {
			words := strings.Fields(rest)
			user, _ := strconv.Atoi(words[11])
			system, _ := strconv.Atoi(words[12])
			pids, all = pids+" "+pid, all+user+system
		}
	}
	return pids, all
}

// until reads lines until one fits.
func (k *talk) until(what string, fits func(said) bool) said {
	k.t.Helper()
	limit := time.After(40 * time.Second)
	for {
		select {
		case line, more := <-k.lines:
			if !more {
				k.t.Fatalf("hookd has ended without %s", what)
			}
			if k.all = append(k.all, fmt.Sprintf("%.500s", fmt.Sprint(line.Kind, " ", line.Text, line.StopReason, line.Error))); fits(line) {
				return line
			}
		case <-limit:
			k.t.Fatalf("no %s within 40 s", what)
		}
	}
}

// result reads to the end of a turn, which must have ended for the reason.
func (k *talk) result(reason string) {
	k.t.Helper()
	if got := k.until("a result", func(s said) bool { return s.Kind == "result" }); got.StopReason != reason {
		k.t.Fatalf("the turn ended with %s %s, want %s", got.StopReason, got.Error, reason)
	}
}

// awaitTold waits until hookd has told a person something.
func (k *talk) awaitTold(text string) {
	k.t.Helper()
	k.until(fmt.Sprintf("the notice %q", text), func(s said) bool { return s.Kind == "notice" && strings.Contains(s.Text, text) })
}

// end closes stdin and waits until hookd has ended, which takes little time.
func (k *talk) end() {
	k.t.Helper()
	began := time.Now()
	k.in.Close()
	for line := range k.lines {
		k.all = append(k.all, fmt.Sprintf("%.500s", line.Kind+line.Text))
	}
	if err := <-k.done; err != nil {
		k.t.Errorf("hookd: %v", err)
	}
	if took := time.Since(began); took > 4*time.Second {
		k.t.Errorf("hookd took %s to end", took)
	}
}
