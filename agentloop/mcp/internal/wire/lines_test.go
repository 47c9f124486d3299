package wire

import (
	"bytes"
	"testing"
)

// FuzzLines: whatever a server writes, reading it ends, and memory is bounded.
func FuzzLines(f *testing.F) {
	f.Add([]byte("Welcome\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"))
	f.Add([]byte("[{\"jsonrpc\":\"2.0\",\"method\":\"x\"},{}]\n\n{"))
	f.Add([]byte("{\"jsonrpc\":\"2.0\",\"id\":1}"))
	f.Add([]byte("\xef\xbb\xbf[INFO] {\"level\":\"info\"}\n{\"level\":\"info\"}\n{\"id\":1,\"result\":{}}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		lines := newLineReader(bytes.NewReader(text), 200, (&strayText{limit: 300, report: func(string, string) {}}).add)
		for range len(text) + 2 {
			messages, err := lines.next()
			if err != nil {
				return
			}
			if len(messages) == 0 {
				t.Fatal("no message and no error")
			}
		}
		t.Fatal("reading does not end")
	})
}
