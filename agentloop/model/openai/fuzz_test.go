package openai

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"

	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/test/modelserver"
)

// FuzzAnswer asserts of any stream that it ends with a finish reason or an
// error, never both, and that nothing comes behind.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(modelserver.OpenAI(fullTurn)))
	f.Add([]byte("data: {\"error\":\"x\"}\r\rdata: [DONE]"))
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"id\":\"a\",\"function\":{\"arguments\":{}}}]}}]}\n\n"))
	m, err := New(Options{Model: "x"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		request, _ := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://127.0.0.1", nil)
		a, finished := responseReader{model: m}, false
		err := a.read(&http.Response{Request: request, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(stream))}, func(c model.Chunk, err error) bool {
			if finished {
				t.Errorf("%+v behind the end", c)
			}
			finished = c.Type == model.Finish
			return true
		})
		if finished == (err != nil) {
			t.Errorf("finished %v, error %v", finished, err)
		}
	})
}
