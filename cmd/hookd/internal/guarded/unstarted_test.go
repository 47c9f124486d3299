package guarded

import (
	"bufio"
	"io"
	"strings"
	"testing"
	"time"
)

// A client that gets an error for its first request may begin in another way: it reads the same there.
// Only requests are answered, each under its own id, and the end of the input is the end.
func TestNothingBeginsAndTheClientReadsWhy(t *testing.T) {
	in, client := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer out.Close()
		answerAll(t.Context(), in, out, `no "server"`, time.Minute, time.Minute)
	}()
	read := bufio.NewReader(answers)
	for _, step := range []struct{ say, id string }{
		{"no JSON\n{\"jsonrpc\":\"2.0\",\"method\":\"note\"}\n{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"x\"}\n{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"server/discover\"}\n", `0`},
		{"{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"initialize\"}\n", `"a"`},
	} {
		if _, err := io.WriteString(client, step.say); err != nil {
			t.Fatal(err)
		}
		want := `{"jsonrpc":"2.0","id":` + step.id + `,"error":{"code":-32603,"message":"no \"server\""}}`
		if got, err := read.ReadString('\n'); err != nil || strings.TrimSpace(got) != want {
			t.Errorf("%q, %v", got, err)
		}
	}
	client.Close()
	if rest, err := io.ReadAll(read); err != nil || len(rest) > 0 {
		t.Errorf("%q, %v", rest, err)
	}
	<-ended
}
