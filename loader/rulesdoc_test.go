//go:build unix

package loader

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/protocol"
)

var (
	ruleExample = regexp.MustCompile("(?s)```json rule\n(.*?)\n```\n\n((?:- [^\n]*\n)+)")
	ruleCall    = regexp.MustCompile("^- (shell|read|write|ask|prompt) `(.*)`: (block|ask|allow|pass|context|notice)$")
)

// Every rule of docs/rules.md answers the calls below it as the page says.
func TestTheRulesOfTheDocumentation(t *testing.T) {
	page, err := os.ReadFile("../docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := ruleExample.FindAllStringSubmatch(string(page), -1)
	if len(examples) < 10 {
		t.Errorf("the page has %d examples", len(examples))
	}
	for _, example := range examples {
		w := newWorld(t)
		w.userSettings(ruleSettings(example[1]))
		s := w.load()
		if len(s.Findings) > 0 || len(s.Hooks) != 1 {
			t.Errorf("%s\n%v", example[1], s.Findings)
			continue
		}
		for written := range strings.Lines(example[2]) {
			written = strings.TrimSpace(written)
			call := ruleCall.FindStringSubmatch(written)
			if call == nil {
				t.Errorf("%q cannot be read", written)
				continue
			}
			if got := answerTo(w, s, call[1], call[2]); got != call[3] {
				t.Errorf("%s: %s is %s", s.Hooks[0].Name, written, got)
			}
		}
	}
}

// answerTo fires a call and returns what came out in a word.
func answerTo(w *world, s *Snapshot, what, text string) string {
	event, data := protocol.ToolCallStart, `{"toolCallId":"c1","name":"bash","kind":"shell","args":{"command":%q},"parallel":1}`
	switch what {
	case "read":
		data = `{"toolCallId":"c1","name":"read_file","kind":"read","args":{"path":%q},"parallel":1}`
	case "write":
		data = `{"toolCallId":"c1","name":"write_file","kind":"write","args":{"path":%q,"content":""},"parallel":1}`
	case "ask":
		event, data = protocol.PermissionRequest, `{"toolCallId":"c1","name":"bash","kind":"shell","args":{"command":%q},"askedBy":"policy","options":[]}`
	case "prompt":
		event, data = protocol.PromptSubmit, `{"prompt":%q,"source":"user","attachments":[]}`
	}
	o := w.fireEvent(s.Set, event, fmt.Sprintf(data, text))
	switch {
	case o.Action != protocol.Observe:
		return string(o.Action)
	case len(o.Context) > 0:
		return "context"
	case len(o.Notices) > 0:
		return "notice"
	}
	return "pass"
}
