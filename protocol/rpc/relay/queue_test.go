package relay

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// While too many bytes wait for one message without a decision, no more is read; then all
// leave in their order.
func TestQueueInALaneIsBounded(t *testing.T) {
	in, from := io.Pipe()
	to, out := io.Pipe()
	decide := make(chan struct{})
	r := New(Options{FromServer: func(m *Message) Decision {
		if m.Method == "first" {
			return Later("l", func() Decision { <-decide; return Pass(m.Line) })
		}
		return PassIn("l", m.Line)
	}})
	go r.write(Client, out)
	w := r.way(Server, in)
	w.held.most = 20_000
	go func() {
		w.run()
		r.boxes[Client].close()
	}()
	const lines = 100
	var taken atomic.Int32
	go func() {
		defer from.Close()
		fmt.Fprintln(from, `{"jsonrpc":"2.0","method":"first"}`)
		for i := range lines {
			fmt.Fprintf(from, `{"jsonrpc":"2.0","method":"m%d","params":["%s"]}`+"\n", i, strings.Repeat("x", 1000))
			taken.Add(1)
		}
	}()
	for began := time.Now(); taken.Load() < 10 && time.Since(began) < 5*time.Second; {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(20 * time.Millisecond)
	if n := taken.Load(); n < 10 || n > 60 { // the reader takes some at once
		t.Errorf("%d lines were read", n)
	}
	close(decide)
	read := bufio.NewScanner(to)
	for i := -1; i < lines; i++ {
		want := fmt.Sprintf(`"method":"m%d"`, i)
		if i < 0 {
			want = `"first"`
		}
		if !read.Scan() || !strings.Contains(read.Text(), want) {
			t.Fatalf("%.60s without %s", read.Text(), want)
		}
	}
	if read.Scan() || w.held.all != (load{}) || len(w.held.lanes) != 0 {
		t.Errorf("%.60s, %+v", read.Text(), w.held.all)
	}
}

// A lane that is full, with messages that wait or that are decided and wait for an earlier one, does
// not hold up those of another lane.
func TestFullLaneHoldsUpNoOther(t *testing.T) {
	for name, waits := range map[string]bool{"without a decision": true, "decided": false} {
		in, from := io.Pipe()
		to, out := io.Pipe()
		decide := make(chan struct{})
		var asked atomic.Int32
		r := New(Options{FromServer: func(m *Message) Decision {
			return Later(m.Method[:1], func() Decision {
				if asked.Add(1); m.Method == "a0" || waits && m.Method[0] == 'a' {
					<-decide
				}
				return Pass(m.Line)
			})
		}})
		go r.write(Client, out)
		w := r.way(Server, in)
		w.held.most = 20_000
		go func() {
			w.run()
			r.boxes[Client].close()
		}()
		line := func(method string, size int) string {
			return `{"jsonrpc":"2.0","method":"` + method + `","params":["` + strings.Repeat("x", size) + `"]}` + "\n"
		}
		for i := range 19 { // a's lane is nearly full now
			io.WriteString(from, line(fmt.Sprintf("a%d", i), 700))
		}
		read := bufio.NewReader(to)
		for range 3 {
			io.WriteString(from, line("b", 15_000))
			if got, err := read.ReadString('\n'); err != nil || !strings.Contains(got, `"method":"b"`) {
				t.Fatalf("%s: %.60s, %v", name, got, err)
			}
		}
		go func() { // one more does not fit
			io.WriteString(from, line("a19", 10_000))
			from.Close()
		}()
		for began := time.Now(); asked.Load() < 19+3 && time.Since(began) < 5*time.Second; {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(20 * time.Millisecond)
		if n := asked.Load(); n != 19+3 {
			t.Errorf("%s: %d messages are taken", name, n)
		}
		close(decide)
		for i := range 20 {
			if got, err := read.ReadString('\n'); err != nil || !strings.Contains(got, fmt.Sprintf(`"method":"a%d"`, i)) {
				t.Fatalf("%s: %.60s is number %d, %v", name, got, i, err)
			}
		}
		if _, err := read.ReadString('\n'); err == nil || w.held.all != (load{}) || len(w.held.lanes) != 0 {
			t.Errorf("%s: %+v", name, w.held.all)
		}
	}
}
