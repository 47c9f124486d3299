//go:build unix

package exechook

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/test/hooktest"
)

// A record that holds hashes holds nothing of an event, whatever its hooks print.
func TestRecordsKeepNothingThatHooksPrint(t *testing.T) {
	const canary = "CANARY-of-the-event"
	for _, values := range []schema.RecordValues{schema.ValuesHash, schema.ValuesNone} {
		s := newScripts(t)
		var hooks []*executor.Hook
		for name, body := range map[string]string{
			"stderr": "cat >&2; exit 1", "stdout": "cat", "notes": `sed s/^/note:/; echo '{}'`, "action": `echo '{"action":"` + canary + `"}'`,
			"number": "echo " + canary, "broken": `printf '{"reason":"` + canary + `'`,
		} {
			h := s.hook(name, protocol.CanModify, 5*time.Second, body)
			h.Hash = "sha256:" + name
			hooks = append(hooks, h)
		}
		e := s.executor(schema.HookSettings{Records: schema.RecordSettings{Values: values}}, hooks...)
		ev := toolEvent("1")
		ev.Data = []byte(`{"toolCallId":"c1","name":"bash","kind":"shell","args":{"command":"` + canary + `"},"parallel":1}`)
		hooktest.Fire(t, e, ev)
		e.Close(t.Context())
		files, _ := filepath.Glob(filepath.Join(s.dir, "state", "records", "*.jsonl"))
		for _, file := range files {
			text, _ := os.ReadFile(file)
			if at := strings.Index(string(text), canary); at >= 0 {
				t.Errorf("%s: …%.300s", values, text[max(0, at-150):])
			}
		}
		if len(files) == 0 {
			t.Error("nothing was recorded")
		}
	}
}
