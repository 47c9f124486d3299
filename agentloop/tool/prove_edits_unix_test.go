//go:build unix

package tool

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/hookd-dev/hookd/test/prove"
)

// editorIn names the project to a run of TestEditsAreNotLost that edits there what it
// is told to, as another run of hookd would.
const editorIn = "TOOL_TEST_EDITOR_IN"

// job is one edit, and how it ended.
type job struct {
	Agent, Path string
	Mark        int
	Done        bool
	Said        string
}

func (j *job) do(t testing.TB, tools []Tool) {
	text, isError := callAs(t, j.Agent, tools, "edit_file", map[string]any{
		"path": j.Path, "oldText": fmt.Sprintf("<%d:old>", j.Mark), "newText": fmt.Sprintf("<%d:new>", j.Mark),
	})
	j.Done, j.Said = !isError, text
}

// TestEditsAreNotLost has calls side by side, agents, and processes of which some are
// killed edit one file: each edit that said done is in it, and it is never torn.
func TestEditsAreNotLost(t *testing.T) {
	if project := os.Getenv(editorIn); project != "" {
		edit(t, project)
		return
	}
	project := t.TempDir()
	ways := waysTo(t, project, "f.txt")
	others := []*editor{startEditor(t, project), startEditor(t, project)}
	defer func() {
		for _, other := range others {
			other.stop()
		}
	}()
	rounds := prove.Size(25, 1000)
	random := rand.New(rand.NewPCG(23, uint64(rounds)))
	var edits, kills, lost, undone int
	began := time.Now()
	for round := range rounds {
		size := int(1000 * math.Exp(random.Float64()*math.Log(10_000)))
		if !prove.Full() {
			size = min(size, 3<<20)
		}
		n := 2 + random.IntN(7)
		before := marked(size, n)
		write(t, project, "f.txt", before)
		jobs := make([]*job, n)
		for i := range jobs {
			jobs[i] = &job{Agent: fmt.Sprint("agent", random.IntN(3)), Path: ways[random.IntN(len(ways))], Mark: i}
		}
		killed := -1
		if random.IntN(3) == 0 {
			killed = random.IntN(len(others))
			kills++
		}
		after := time.Duration(random.Float64() * float64(time.Millisecond) * (3 + 40*float64(size)/(10<<20)))
		runJobs(t, project, jobs, others, killed, after)
		if killed >= 0 {
			others[killed].stop()
			others[killed] = startEditor(t, project)
		}
		got := read(t, project, "f.txt")
		torn := got
		for i, j := range jobs {
			is := strings.Contains(got, fmt.Sprintf("<%d:new>", i))
			edits++
			switch {
			case j.Done && !is:
				lost++
				t.Errorf("round %d: edit %d of %d said %q and is not in the file of %d bytes", round, i, n, j.Said, len(got))
			case !j.Done && j.Said != "":
				t.Errorf("round %d: %s", round, j.Said)
			case !j.Done:
				undone++
			}
			torn = strings.Replace(torn, fmt.Sprintf("<%d:new>", i), fmt.Sprintf("<%d:old>", i), 1)
		}
		if torn != before {
			t.Fatalf("round %d: the file is torn: %d bytes of %d", round, len(got), len(before))
		}
		if t.Failed() {
			break
		}
	}
	call(t, Files(Folder{Project: project}), "write_file", map[string]any{"path": "f.txt", "content": "the end"})
	nothingElse(t, project)
	prove.Figure(t, "G23", "%d rounds, %d edits, %d processes killed, %d edits cut by that: %d lost, 0 files torn, in %s", rounds, edits, kills, undone, lost, time.Since(began).Round(time.Second))
}

// runJobs runs the jobs at once, in this process and in others, of which one may be
// killed meanwhile.
func runJobs(t *testing.T, project string, jobs []*job, others []*editor, killed int, after time.Duration) {
	tools := Files(Folder{Project: project})
	var working sync.WaitGroup
	for i, j := range jobs {
		working.Go(func() {
			if where := i % (len(others) + 1); where < len(others) {
				others[where].do(j)
				return
			}
			j.do(t, tools)
		})
	}
	if killed >= 0 {
		time.Sleep(after)
		_ = others[killed].process.Process.Kill()
	}
	working.Wait()
}

// editor is another process that edits.
type editor struct {
	process *exec.Cmd
	in      io.WriteCloser

	mu      sync.Mutex
	waiting map[int]chan job
	ended   chan struct{}
}

func startEditor(t *testing.T, project string) *editor {
	e := &editor{process: exec.Command(os.Args[0], "-test.run=^TestEditsAreNotLost$"), waiting: map[int]chan job{}, ended: make(chan struct{})}
	e.process.Env = append(os.Environ(), editorIn+"="+project)
	e.process.Stderr = os.Stderr
	var err error
	if e.in, err = e.process.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := e.process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := e.process.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make(chan struct{})
	go func() {
		defer close(e.ended)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			var done job
			if lines.Text() == "READY" {
				close(ready)
			} else if json.Unmarshal(lines.Bytes(), &done) == nil {
				e.mu.Lock()
				e.waiting[done.Mark] <- done
				e.mu.Unlock()
			}
		}
	}()
	select {
	case <-ready:
	case <-e.ended:
		t.Fatal("another process does not start")
	}
	return e
}

// do has the process do a job. One that it did not answer for is not done and says
// nothing.
func (e *editor) do(j *job) {
	answer := make(chan job, 1)
	line, err := json.Marshal(j)
	if err != nil {
		panic(err)
	}
	e.mu.Lock()
	e.waiting[j.Mark] = answer
	_, err = e.in.Write(append(line, '\n'))
	e.mu.Unlock()
	if err != nil {
		return
	}
	select {
	case *j = <-answer:
	case <-e.ended:
		select {
		case *j = <-answer:
		default:
		}
	}
}

func (e *editor) stop() {
	e.in.Close()
	_ = e.process.Process.Kill()
	<-e.ended
	_ = e.process.Wait()
}

// edit is the life of such a process.
func edit(t *testing.T, project string) {
	tools := Files(Folder{Project: project})
	fmt.Println("READY")
	var out sync.Mutex
	var working sync.WaitGroup
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var j job
		if err := json.Unmarshal(lines.Bytes(), &j); err != nil {
			panic(err)
		}
		working.Go(func() {
			j.do(t, tools)
			line, err := json.Marshal(j)
			if err != nil {
				panic(err)
			}
			out.Lock()
			defer out.Unlock()
			os.Stdout.Write(append(line, '\n'))
		})
	}
	working.Wait()
}
