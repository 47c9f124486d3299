//go:build unix

package integration

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"
)

// watcher is a person whose terminal can be looked at: an emulator draws what hookd prints.
type watcher struct {
	*person
	emulator *vt.Emulator

	drawing sync.Mutex
	goldens strings.Builder
}

const watchedRows = 24

// lookAt starts hookd in a terminal of so many columns.
func lookAt(t *testing.T, b *box, columns int, args ...string) *watcher {
	t.Helper()
	w := &watcher{emulator: vt.NewEmulator(columns, watchedRows)}
	w.person = sitDownWith(t, b, "xterm-256color", func(p *person) {
		p.drawn = w.draw
		if err := pty.Setsize(p.master, &pty.Winsize{Rows: watchedRows, Cols: uint16(columns)}); err != nil {
			t.Fatal(err)
		}
	}, args...)
	answers := make(chan struct{}) // what a terminal answers when it is asked about itself
	go func() {
		defer close(answers)
		io.Copy(w.master, w.emulator)
	}()
	t.Cleanup(func() {
		w.emulator.InputPipe().(io.Closer).Close()
		<-answers
	})
	return w
}

func (w *watcher) draw(piece []byte) {
	w.drawing.Lock()
	defer w.drawing.Unlock()
	w.emulator.Write(piece)
}

func (w *watcher) resize(columns int) {
	w.drawing.Lock()
	w.emulator.Resize(columns, watchedRows)
	w.drawing.Unlock()
	if err := pty.Setsize(w.master, &pty.Winsize{Rows: watchedRows, Cols: uint16(columns)}); err != nil {
		w.t.Fatal(err)
	}
}

// What is another each time: times, the IDs of sessions, how far the spinner is.
var unequal = []struct {
	is *regexp.Regexp
	as string
}{
	{regexp.MustCompile(`\d+(\.\d)?m?s\b`), "0ms"},
	{regexp.MustCompile(`(?m)· \d[\d.]*m?$`), "· 0ms"}, // cut off
	{regexp.MustCompile(`(?m)^(    asked: flag\.sh 0ms).*$`), "$1, guard.sh 0ms"},
	{regexp.MustCompile(`\b01[0-9A-Z]{24}\b`), "ID"},
	{regexp.MustCompile(`\d\d:\d\d:\d\d`), "00:00:00"},
}

// inBox is the folder of a box, of which the end may be cut off.
var inBox = regexp.MustCompile(`(/\S*)?/hb-\S*`)

// shown returns the screen, with what is another each time made equal.
func (w *watcher) shown() string {
	w.drawing.Lock()
	text := w.emulator.String()
	w.drawing.Unlock()
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, strings.TrimRight(line, " \r"))
	}
	text = inBox.ReplaceAllString(strings.TrimRight(strings.Join(lines, "\n"), "\n"), "/box")
	for _, c := range unequal {
		text = c.is.ReplaceAllString(text, c.as)
	}
	return text
}

// keeps waits until the screen ends with a text that matches and stays as it is. It keeps the
// screen from a line on that begins with a text: how far what is above has scrolled is another
// each time.
func (w *watcher) keeps(title, from, end string) {
	w.t.Helper()
	ending := regexp.MustCompile(end + `$`)
	last := ""
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		now := w.shown()
		if ending.MatchString(now) && now == last && !strings.Contains(now, "esc aborts") {
			break
		}
		if last = now; time.Now().After(deadline) {
			w.t.Fatalf("%s does not end with %q:\n%s", title, end, now)
		}
	}
	at := strings.LastIndex("\n"+last, "\n"+from)
	if at < 0 {
		w.t.Fatalf("%s has no line that begins with %q:\n%s", title, from, last)
	}
	last = last[at:]
	fmt.Fprintf(&w.goldens, "== %s ==\n%s\n\n", title, last)
}

// TestScreensOfAConversation holds a conversation at 80 and at 120 columns, and compares what
// the terminal shows with the screens in testdata/screens: -update writes them.
func TestScreensOfAConversation(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.project = filepath.Join(b.home, "proj") // shown as ~/proj, however long the name of the temporary folder is
	if err := os.Mkdir(b.project, 0o755); err != nil {
		t.Fatal(err)
	}
	b.script(t, "guard.sh", "#!/bin/sh\n# hook: events=tool-call-start can=block timeout=10s\ncase \"$(cat)\" in *forbidden*) sleep 1; echo 'not on this machine' >&2; exit 2;; *deploy*) printf '{\"action\":\"ask\",\"reason\":\"it goes to production\"}';; esac\n")
	b.script(t, "flag.sh", "#!/bin/sh\n# hook: events=tool-call-start can=modify timeout=10s match.tool=bash\ncase \"$(cat)\" in *'make test'*) printf '{\"changes\":{\"args\":{\"command\":\"echo tested\"}}}';; esac\n")
	for name, text := range map[string]string{"main.go": "package main\n\nfunc main() {\n\tprintln(\"hello\")\n}\n", "turns.yaml": screenTurns, "next.yaml": "turns:\n- text: It was about **main.go**, see above.\n"} {
		if err := os.WriteFile(filepath.Join(b.project, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const ready, idle = "\n›\n/help lists the commands", "\n›\ncontext .*"
	narrow := lookAt(t, b, 80, "run", "--allow", "bash,write", "--model", "scripted:turns.yaml")
	narrow.keeps("start", "hookd", ready)
	narrow.types("/help\r")
	narrow.keeps("help", "  /help", "ends hookd"+ready)
	narrow.types("change the greeting\r")
	narrow.keeps("a turn with an edit, a change and a block", "› change", "1 refused · 0ms"+idle)
	narrow.types("\x0f")
	narrow.keeps("opened", "#4", "machine\n    asked: flag.sh 0ms, guard.sh 0ms"+idle)
	narrow.types("\x1b[200~" + strings.Repeat("a long line of a log that somebody pastes into the conversation\r", 40) + "\x1b[201~ what is wrong?")
	narrow.keeps("after a long paste", "#4", `› \[pasted 1: 40 lines\] what is wrong\?\ncontext .*`)
	narrow.resize(40)
	narrow.keeps("narrower", "#4", `› \[pasted 1: 40 lines\] what is wrong\?\ncontext .* out ·…`)
	narrow.resize(120)
	narrow.keeps("wider", "#4", `› \[pasted 1: 40 lines\] what is wrong\?\ncontext .* \$0.05`)
	narrow.resize(80)
	narrow.types("\r")
	narrow.keeps("a question", "› a long", `Reject and say why \(w\)`)
	narrow.types("w")
	narrow.types("not on a Friday")
	narrow.keeps("why not", "? your", "not on a Friday▏")
	narrow.types("\r")
	narrow.keeps("refused", "    ? bash", "1 refused · 0ms"+idle)
	narrow.types("!seq 3; exit 4\r")
	narrow.keeps("a command of the person", "✗ ! seq", "│ 3"+idle)
	narrow.types("!echo forbidden\r")
	narrow.keeps("a refused one", "✗ ! echo", "not on this machine"+idle)
	narrow.endsTheTree()
	narrow.types("/quit\r")
	narrow.leaves(0)

	wide := lookAt(t, b, 120, "run", "--continue", "--model", "scripted:next.yaml")
	wide.keeps("goes on", "hookd", ready)
	wide.types("/help\r")
	wide.keeps("help", "  /help", "ends hookd"+ready)
	wide.types("and what was it?\r")
	wide.keeps("a turn", "› and", "0 tool calls · 0ms\n›")
	wide.types("/quit\r")
	wide.leaves(0)
	for name, w := range map[string]*watcher{"80.txt": narrow, "120.txt": wide} {
		file := filepath.Join("testdata", "screens", name)
		if *update {
			if err := os.WriteFile(file, []byte(w.goldens.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), w.goldens.String()); diff != "" {
			t.Errorf("%s (-want +got; -update writes it):\n%s", file, diff)
		}
	}
}

// endsTheTree asserts that an abort of a command of the person ends all that it started.
func (w *watcher) endsTheTree() {
	w.t.Helper()
	w.types("!setsid sleep 71 & touch started; sleep 70\r")
	w.awaits("started")
	w.sees("!") // what came before is forgotten
	began := time.Now()
	w.types("\x1b")
	w.sees("aborted")
	if took := time.Since(began); took > 250*time.Millisecond+busySlack {
		w.t.Errorf("the prompt was back after %v", took)
	}
	for deadline := time.Now().Add(time.Second); len(w.sleepers()) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("left alive: %s", w.sleepers())
		}
	}
}

const screenTurns = `
contextMax: 200000
turns:
- text: "I change the greeting in **main.go**:"
  usage: {inputTokens: 12000, outputTokens: 800, contextTokens: 12800, costUsd: 0.05}
  toolCalls:
  - {id: a, name: edit_file, args: {path: main.go, oldText: "println(\"hello\")", newText: "println(\"good morning\")"}}
- toolCalls:
  - {id: b, name: bash, args: {command: "make test"}}
  - {id: c, name: bash, args: {command: "echo forbidden"}}
- text: |
    ## Done

    - the greeting is another
    - the tests pass

    ` + "```go" + `
    func main() { println("good morning") }
    ` + "```" + `
- toolCalls:
  - {id: d, name: bash, args: {command: "make deploy TARGET=production && echo 'a very long command that does not stand in one line of a terminal of eighty columns'"}}
- expect: [{in: messages, contains: "not on a Friday"}]
  text: Then on Monday.
`
