//go:build unix

package integration

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// talk is a conversation with a daemon of the real binary.
type talk struct {
	t      *testing.T
	box    *box
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *bytes.Buffer
	last   int
	key    string // of the open session
}

func serve(t *testing.T, b *box) *talk {
	t.Helper()
	return serveBy(t, b, b.command("serve"))
}

// serveBy does so with another command line.
func serveBy(t *testing.T, b *box, c *exec.Cmd) *talk {
	t.Helper()
	return serveHost(t, b, c, "{}")
}

// serveHost does so for a host that can do what its capabilities say.
func serveHost(t *testing.T, b *box, c *exec.Cmd, capabilities string) *talk {
	t.Helper()
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	k := &talk{t: t, box: b, cmd: c, in: in, out: bufio.NewReader(out), stderr: &bytes.Buffer{}}
	c.Stderr = k.stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	k.call("initialize", `{"version":1,"client":{"name":"test","version":"1"},"capabilities":`+capabilities+`}`)
	var opened struct {
		Result struct{ Key string }
	}
	k.into(k.call("session/open", fmt.Sprintf(`{"id":"s1","cwd":%q,"host":"test"}`, b.project)), &opened)
	k.key = opened.Result.Key
	return k
}

// send writes a request and returns its id.
func (k *talk) send(method, params string) int {
	k.t.Helper()
	k.last++
	if _, err := fmt.Fprintf(k.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", k.last, method, params); err != nil {
		k.t.Fatalf("%v\n%s", err, k.stderr)
	}
	return k.last
}

// answer reads lines up to the answer with an id. Every line must be a message.
func (k *talk) answer(id int) json.RawMessage {
	k.t.Helper()
	for {
		line, err := k.out.ReadBytes('\n')
		if err != nil {
			k.t.Fatalf("waiting for answer %d: %v\n%s", id, err, k.stderr)
		}
		var m struct {
			JSONRPC string
			ID      *int
		}
		if json.Unmarshal(line, &m) != nil || m.JSONRPC != "2.0" {
			k.t.Fatalf("not a message on stdout: %q", line)
		}
		if m.ID != nil && *m.ID == id {
			return line
		}
	}
}

func (k *talk) call(method, params string) json.RawMessage {
	k.t.Helper()
	return k.answer(k.send(method, params))
}

func (k *talk) into(line json.RawMessage, value any) {
	k.t.Helper()
	if err := json.Unmarshal(line, value); err != nil {
		k.t.Fatalf("%v: %s", err, line)
	}
}

// event is the params of event/fire for a prompt.
func (k *talk) event(prompt string) string {
	return fmt.Sprintf(`{"event":"prompt-submit","session":{"id":"s1","key":%q},"data":{"prompt":%q,"source":"user","attachments":[]}}`, k.key, prompt)
}

func (k *talk) outcome(line json.RawMessage) outcome {
	k.t.Helper()
	var m struct {
		Result outcome
		Error  json.RawMessage
	}
	k.into(line, &m)
	if m.Error != nil {
		k.t.Fatalf("error %s", m.Error)
	}
	return m.Result
}

// script puts a hook into the user layer by rename, as an editor saves it.
func (b *box) script(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(b.home, ".acai", "hooks", name)
	if err := os.WriteFile(path+".tmp", []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		t.Fatal(err)
	}
}

const promptHook = "#!/bin/sh\n# hook: events=prompt-submit can=block timeout=30s\n"

// H26, H27: a line of 16 MiB and a small one are both answered, and whatever a
// hook writes, every line on stdout is a message.
func TestDaemonAnswersBigLinesAndKeepsStdoutClean(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.script(t, "noisy.sh", promptHook+`n=$(wc -c | tr -d ' ')
echo noise; echo noise >&2
(echo foreign >/proc/$PPID/fd/1) 2>/dev/null
printf '{"action":"block","reason":"read %s bytes"}\n' "$n"
`)
	k := serve(t, b)
	o := k.outcome(k.call("event/fire", k.event(strings.Repeat("x", 16<<20))))
	if o.Action != "block" || !strings.HasPrefix(o.Reason, "read 167") {
		t.Errorf("%s: %s", o.Action, o.Reason)
	}
	if o = k.outcome(k.call("event/fire", k.event("small"))); o.Action != "block" {
		t.Errorf("%s: %s", o.Action, o.Reason)
	}
	k.in.Close()
	if err := k.cmd.Wait(); err != nil {
		t.Errorf("ended with %v\n%s", err, k.stderr)
	}
	if left := aliveAfter(b.folder, time.Second); len(left) > 0 {
		t.Errorf("still alive: %s", strings.Join(left, "; "))
	}
}

// H46: a cancelled event is answered at once and its hook's tree is gone; the
// next event works.
func TestDaemonCancelEndsTheTree(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.script(t, "1-slow.sh", promptHook+`case $(cat) in *slow*) touch "$HOOK_PROJECT_DIR/started"; sleep 61 & sleep 62 ;; esac`)
	b.script(t, "2-later.sh", promptHook+`touch "$HOOK_PROJECT_DIR/later"`)
	k := serve(t, b)
	id := k.send("event/fire", k.event("slow"))
	for !exists(filepath.Join(b.project, "started")) {
		time.Sleep(5 * time.Millisecond)
	}
	began := time.Now()
	fmt.Fprintf(k.in, `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":%d}}`+"\n", id)
	if line := k.answer(id); !strings.Contains(string(line), "-32800") {
		t.Errorf("answer %s", line)
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("answered %v after the cancellation", took)
	}
	// The daemon and its guardian live on; nothing of the hook does.
	if left := hooksAlive(b, time.Second); len(left) > 0 {
		t.Errorf("still alive: %s", strings.Join(left, "; "))
	}
	if exists(filepath.Join(b.project, "later")) {
		t.Error("a later hook ran")
	}
	if o := k.outcome(k.call("event/fire", k.event("quick"))); o.Action != "observe" {
		t.Errorf("the next event: %s %s", o.Action, o.Reason)
	}
}

// hooksAlive are the processes that hooks started: those that sleep.
func hooksAlive(b *box, wait time.Duration) []string {
	for deadline := time.Now().Add(wait); ; time.Sleep(10 * time.Millisecond) {
		var left []string
		for _, p := range alive(b.folder) {
			if strings.Contains(p, "sleep ") || strings.Contains(p, ".sh") {
				left = append(left, p)
			}
		}
		if len(left) == 0 || time.Now().After(deadline) {
			return left
		}
	}
}

// H49: however the daemon ends, its hooks end: by TERM, by the end of stdin, and
// by KILL, where the guardian does it.
func TestDaemonEndsItsHooks(t *testing.T) {
	for _, end := range []string{"TERM", "stdin", "KILL"} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			b.script(t, "slow.sh", promptHook+"trap '' TERM\ntouch \"$HOOK_PROJECT_DIR/started\"\nsleep 61 | cat & sleep 62")
			k := serve(t, b)
			k.send("event/fire", k.event("slow"))
			for !exists(filepath.Join(b.project, "started")) {
				time.Sleep(5 * time.Millisecond)
			}
			began := time.Now()
			switch end {
			case "TERM":
				k.cmd.Process.Signal(syscall.SIGTERM)
			case "stdin":
				k.in.Close()
			case "KILL":
				k.cmd.Process.Kill()
			}
			go io.Copy(io.Discard, k.out)
			k.cmd.Wait()
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("ended after %v", took)
			}
			if left := aliveAfter(b.folder, 2*time.Second); len(left) > 0 {
				t.Errorf("still alive: %s", strings.Join(left, "; "))
			}
		})
	}
}

// H44, H09, H42: edits are obeyed within a second under load, and half-written
// settings never let an event through.
func TestDaemonReloadsUnderLoad(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	version := func(n int) string {
		return promptHook + fmt.Sprintf(`echo '{"action":"block","reason":"version %d"}'`, n)
	}
	b.script(t, "rule.sh", version(0))
	k := serve(t, b)
	settings := filepath.Join(b.home, ".acai", "acai.json")
	for n := 1; n <= 5; n++ {
		b.script(t, "rule.sh", version(n))
		half := []byte(`{"hooks": {"use": [{"name": "rule.sh", "can"`)
		if err := os.WriteFile(settings, half, 0o644); err != nil {
			t.Fatal(err)
		}
		saved := time.Now()
		for {
			o := k.outcome(k.call("event/fire", k.event("go")))
			if o.Action != "block" {
				t.Fatalf("version %d: an event passed: %+v", n, o)
			}
			if time.Since(saved) > 300*time.Millisecond && exists(settings) {
				os.Remove(settings)
			}
			if o.Reason == fmt.Sprintf("version %d", n) {
				break
			}
			if time.Since(saved) > 5*time.Second {
				t.Fatalf("version %d is not active after %v: %s", n, time.Since(saved), o.Reason)
			}
		}
	}
}
