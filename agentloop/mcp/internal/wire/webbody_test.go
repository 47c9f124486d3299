package wire

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// readBody returns what the SDK is given of a server's answer.
func readBody(t *testing.T, kind, body string) (string, error) {
	t.Helper()
	pending := newPendingRequests(func(kind, text string) {})
	pending.expect(t.Context(), 1, "tools/list")
	b := &webBody{from: io.NopCloser(strings.NewReader(body)), limit: 1 << 20, pending: pending, release: func() {}}
	if err := b.understand(&http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {kind}}}); err != nil {
		return "", err
	}
	read, err := io.ReadAll(b)
	return string(read), err
}

// TestEmptyAnswers: an event without data begins many streams, and a body may be
// empty; neither ends the program, and what comes after is read.
func TestEmptyAnswers(t *testing.T) {
	answer := `data: {"jsonrpc":"2.0","id":1,"result":{}}` + "\n\n"
	for name, c := range map[string]struct{ kind, body, want string }{
		"primed":         {"text/event-stream", "id: 0_0\nretry: 100\ndata: \n\n" + answer, "id: 0_0\nretry: 100\ndata: \n\n" + answer},
		"primed, no gap": {"text/event-stream", "data:\n\n" + answer, "data:\n\n" + answer},
		"blanks":         {"text/event-stream", "data: \t \n\n" + answer, "data: \t \n\n" + answer},
		"empty stream":   {"text/event-stream", "", ""},
		"empty message":  {"application/json", "", ""},
		"blank message":  {"application/json", " \n", " \n"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readBody(t, c.kind, c.body)
			if err != nil || got != c.want {
				t.Errorf("read %q, %v", got, err)
			}
		})
	}
}

func FuzzWebBody(f *testing.F) {
	f.Add("text/event-stream", "id: 1\ndata: \n\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n")
	f.Add("application/json", `{"jsonrpc":"2.0","id":1,"result":{}}`)
	f.Add("application/json", "")
	f.Add("text/plain", "x")
	f.Fuzz(func(t *testing.T, kind, body string) {
		readBody(t, kind, body) // an error is fine, a panic is not
	})
}

func FuzzReadMessages(f *testing.F) {
	for _, line := range []string{"", " ", "{}", "[]", "[{}]", `{"jsonrpc":"2.0","id":1,"result":{}}`, `[{"jsonrpc":"2.0","method":"a"},`, "{"} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		list, err := readMessages(line)
		if err != nil && list != nil {
			t.Errorf("%d messages beside %v", len(list), err)
		}
	})
}
