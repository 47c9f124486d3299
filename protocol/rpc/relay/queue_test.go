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
	if read.Scan() || w.held.bytes != 0 {
		t.Errorf("%.60s, %d bytes", read.Text(), w.held.bytes)
	}
}
