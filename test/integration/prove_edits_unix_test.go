//go:build unix

package integration

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/test/prove"
)

// editScript is what the model of one run says: four calls at once, two of which start
// a sub-agent that edits, too. Its marks begin with the run's letter.
const editScript = `turns:
  - toolCalls:
      - {name: edit_file, args: {path: f.txt, oldText: "<R0:old>", newText: "<R0:new>"}}
      - {name: edit_file, args: {path: PROJECT/f.txt, oldText: "<R1:old>", newText: "<R1:new>"}}
      - {name: spawn_subagent, args: {prompt: edit}}
      - {name: spawn_subagent, args: {prompt: edit}}
  - toolCalls: [{name: edit_file, args: {path: link, oldText: "<R2:old>", newText: "<R2:new>"}}]
  - toolCalls: [{name: edit_file, args: {path: folder/f.txt, oldText: "<R3:old>", newText: "<R3:new>"}}]
  - text: one
  - text: two
  - text: done
`

// TestRunsLoseNoEdits has two runs in one folder edit one file by parallel calls and
// sub-agents; one of them is killed now and then. G23 with the real program.
func TestRunsLoseNoEdits(t *testing.T) {
	b := newBox(t)
	file := filepath.Join(b.project, "f.txt")
	for link, to := range map[string]string{"link": "f.txt", "folder": "."} {
		if err := os.Symlink(to, filepath.Join(b.project, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, run := range []string{"A", "B"} {
		script := strings.NewReplacer("<R", "<"+run, "PROJECT", b.project).Replace(editScript)
		if err := os.WriteFile(filepath.Join(b.folder, run+".yaml"), []byte(script), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	rounds, kills, said := prove.Size(4, 60), 0, 0
	began := time.Now()
	for round := range rounds {
		size := 1000 << rand.IntN(13) // to 4 MB
		before := withMarks(size)
		if err := os.WriteFile(file, []byte(before), 0o644); err != nil {
			t.Fatal(err)
		}
		kill := round%2 == 1
		if kill {
			kills++
		}
		var mu sync.Mutex
		var done []string
		var running sync.WaitGroup
		for _, run := range []string{"A", "B"} {
			running.Go(func() {
				marks := editsSaidDone(t, b, run, kill && run == "B")
				mu.Lock()
				defer mu.Unlock()
				done = append(done, marks...)
			})
		}
		running.Wait()
		said += len(done)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, mark := range done {
			if !strings.Contains(string(text), mark) {
				t.Errorf("round %d: %s is not in the file", round, mark)
			}
		}
		if !kill && len(done) != 8 || kill && len(done) < 4 {
			t.Errorf("round %d: of 8 edits %d are done: %v", round, len(done), done)
		}
		if whole := strings.ReplaceAll(string(text), ":new>", ":old>"); whole != before {
			t.Fatalf("round %d: the file is torn: %d bytes of %d", round, len(text), len(before))
		}
	}
	if left := aliveAfter(b.folder, 2*time.Second); len(left) > 0 {
		t.Errorf("still alive: %s", strings.Join(left, "; "))
	}
	prove.Figure(t, "G23", "%d times two runs with two sub-agents each, one of the runs killed %d times: %d edits said done, all in the file, in %s", rounds, kills, said, time.Since(began).Round(time.Second))
}

// withMarks is a text with a mark for each edit of both runs.
func withMarks(size int) string {
	var text strings.Builder
	for i := range 4 {
		for _, run := range []string{"A", "B"} {
			fmt.Fprintf(&text, "<%s%d:old>\n%s\n", run, i, strings.Repeat("x", size/8))
		}
	}
	return text.String()
}

// editsSaidDone is one run, with the marks that its edits said to have set.
func editsSaidDone(t *testing.T, b *box, run string, kill bool) (marks []string) {
	c := b.command("run", "go", "--json", "--allow", "bash,write", "--model", "scripted:"+filepath.Join(b.folder, run+".yaml"))
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Error(err)
		return nil
	}
	defer c.Wait()
	killAfter := rand.IntN(6)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var line struct {
			Event struct {
				Event string
				Data  struct {
					Name   string
					Args   struct{ NewText string }
					Result struct {
						IsError bool
						Content json.RawMessage
					}
				}
			}
		}
		if json.Unmarshal(lines.Bytes(), &line) != nil || line.Event.Event != "tool-call-end" && line.Event.Event != "tool-call-start" {
			continue
		}
		if kill {
			if killAfter--; killAfter < 0 {
				time.Sleep(time.Duration(rand.Int64N(int64(20 * time.Millisecond))))
				c.Process.Kill()
			}
		}
		data := line.Event.Data
		if line.Event.Event == "tool-call-start" || data.Name != "edit_file" {
			continue
		}
		if data.Result.IsError {
			t.Errorf("%s: %s", data.Args.NewText, data.Result.Content)
			continue
		}
		marks = append(marks, data.Args.NewText)
	}
	return marks
}
