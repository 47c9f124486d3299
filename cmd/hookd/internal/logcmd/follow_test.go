package logcmd

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor/record"
	"github.com/hookd-dev/hookd/protocol"
)

// lockedBuffer is written to by the command and read by the test at the same time.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// await waits until the text is there.
func (b *lockedBuffer) await(t *testing.T, text string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !strings.Contains(b.String(), text); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%q does not appear:\n%s", text, b.String())
		}
	}
}

// What is recorded while a person follows appears in its order and once, also when the
// record goes on in another file, and after what was there before. An interrupt ends it.
func TestFollowShowsWhatComesInOrder(t *testing.T) {
	for _, most := range []int{2, 0} {
		t.Run(fmt.Sprintf("-n %d", most), func(t *testing.T) {
			dir := t.TempDir()
			log := record.Open(dir, 0, 16<<10) // a small record, which goes on in other files soon
			written := 0
			write := func(n int) {
				for range n {
					written++
					e := &record.Event{ID: fmt.Sprintf("01M8K9KSBVQ8G83Y9HR0%06d", written), Event: protocol.ToolCallStart, Agent: "main", Host: "claude",
						Tool: "bash", Asked: fmt.Sprintf("call-%d.", written), Action: protocol.Observe, Changed: []record.Change{}, Runs: []protocol.Run{}}
					if err := log.Append("alpha", time.Now(), e); err != nil {
						t.Fatal(err)
					}
				}
			}
			write(5)
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			var out, errs lockedBuffer
			cmd := &Commands{Console: &cli.Console{Out: &show.Printer{W: &out, Width: 120}, Err: &show.Printer{W: &errs}}}
			ended := make(chan int, 1)
			go func() { ended <- cmd.logRecords(ctx, dir, []string{"alpha"}, logFlags{follow: true, most: most}) }()
			out.await(t, "call-5.")
			for written < 60 {
				write(5)
				out.await(t, fmt.Sprintf("call-%d.", written))
			}
			interrupted := time.Now()
			interrupt()
			select {
			case <-ended:
			case <-time.After(10 * time.Second):
				t.Fatal("an interrupt does not end it")
			}
			if took := time.Since(interrupted); took > 2*time.Second {
				t.Errorf("an interrupt ended it after %s", took)
			}
			first := 1
			if most > 0 {
				first = 5 - most + 1
			}
			var want []string
			for i := first; i <= written; i++ {
				want = append(want, fmt.Sprintf("call-%d.", i))
			}
			if got := regexp.MustCompile(`call-\d+\.`).FindAllString(out.String(), -1); strings.Join(got, " ") != strings.Join(want, " ") {
				t.Errorf("it shows %q", got)
			}
			if errs.String() != "" {
				t.Errorf("on stderr: %s", errs.String())
			}
			if err := log.Close(); err != nil {
				t.Fatal(err)
			}
			if files, err := filepath.Glob(filepath.Join(dir, "alpha*")); err != nil || len(files) < 3 {
				t.Errorf("the record is in %q (%v): it never went on in another file", files, err)
			}
			if open := openBelow(dir); open != "" {
				t.Errorf("left open: %s", open)
			}
		})
	}
}

// openBelow returns a file below a folder that this process has open, where the system
// tells it.
func openBelow(dir string) string {
	links, _ := filepath.Glob("/proc/self/fd/*")
	for _, link := range links {
		if file, err := os.Readlink(link); err == nil && strings.HasPrefix(file, dir) {
			return file
		}
	}
	return ""
}
