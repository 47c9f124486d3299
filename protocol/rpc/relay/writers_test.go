package relay

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/protocol/rpc"
)

// Lines that many write at the same time stand whole on the stream. The test stands here as
// package rpc starts no goroutine, so that its own tests run without the race detector.
func TestLinesOfManyWritersStayWhole(t *testing.T) {
	in, out := io.Pipe()
	w := rpc.NewWriter(out)
	const writers, each = 8, 200
	done := make(chan struct{})
	for i := range writers {
		go func() {
			defer func() { done <- struct{}{} }()
			line := strings.Repeat(string(rune('a'+i)), 1000+i)
			for range each {
				if w.Write([]byte(line)) != nil {
					return
				}
			}
		}()
	}
	go func() {
		for range writers {
			<-done
		}
		out.Close()
	}()
	read := 0
	for r := rpc.NewReader(in, 0); ; read++ {
		line, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if text := string(line); strings.Trim(text, text[:1]) != "" || len(text) != 1000+int(text[0]-'a') {
			t.Fatalf("mixed line %q", text)
		}
	}
	if read != writers*each {
		t.Fatalf("%d lines", read)
	}
}
