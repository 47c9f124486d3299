package anthropic

import (
	"bytes"
	"testing"

	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/agentloop/model/internal/wire"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/test/modelserver"
)

// FuzzAnswer asserts of any stream that nothing comes behind its end, and that
// opaque parts are JSON objects that can be sent back.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(modelserver.Anthropic(fullTurn)))
	f.Add([]byte("event: content_block_start\ndata: {\"type\":\"content_block_start\",\"content_block\":{\"type\":\"x\",\"input\":[]}}\n\nevent: content_block_stop\ndata: {\"type\":\"content_block_stop\"}\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		a := responseReader{model: &Model{client: wire.NewClient(wire.Options{})}}
		for event, err := range wire.Events(bytes.NewReader(data)) {
			if err != nil || a.done {
				return
			}
			_, err := a.take(event, func(c model.Chunk, err error) bool {
				if c.Type == model.PartDone && c.Part.Provider != "" && (!jsonspan.Valid(c.Part.Data) || jsonspan.Kind(c.Part.Data) != '{') {
					t.Errorf("opaque part %s", c.Part.Data)
				}
				if (c.Type == model.Finish) != a.done {
					t.Errorf("%+v, done %v", c, a.done)
				}
				return true
			})
			if err != nil {
				return
			}
		}
	})
}
