package trustcmd

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
)

// packItems are rules of one file; each has a pattern that is long.
func packItems(n int, change func(item *loader.PlanItem, i int)) (items []*loader.PlanItem) {
	for i := range n {
		item := &loader.PlanItem{Hook: fmt.Sprintf("r%d", i), Kind: loader.KindHook}
		item.State, item.Guard = loader.StateNew, true
		item.Now.From = fmt.Sprintf("/p/.acai/hooks/x.rules.yaml:%d", i+2)
		item.Now.Entry = protocol.RawMessage(fmt.Sprintf(`{"can":"block","description":"what %d","events":["tool-call-start"],"match":{"command":["/secret%d %s/","git x"],"tool":"bash"},"onFailure":"block","reply":{"action":"block","reason":"why %d"}}`, i, i, strings.Repeat("z", 500), i))
		change(item, i)
		items = append(items, item)
	}
	return items
}

func shown(items []*loader.PlanItem, all bool) (string, int64) {
	var out bytes.Buffer
	left := showItems(show.New(&out), items, all)
	return out.String(), left
}

// A long file of rules is told in two lines for each rule, with how much was left out; all of
// it is shown where the person wants that.
func TestALongFileOfRulesIsToldInShort(t *testing.T) {
	items := packItems(10, func(*loader.PlanItem, int) {})
	text, left := shown(items, false)
	if strings.Contains(text, "secret") || strings.Count(text, "\n") > 24 || !strings.Contains(text, "x.rules.yaml  10 new rules") ||
		!strings.Contains(text, "r3  block at tool-call-start, match.command: 2 patterns, match.tool=bash\n    what 3: why 3\n") || !strings.Contains(text, "hookd trust --all") {
		t.Errorf("%s", text)
	}
	if left < 10*500 || left > 10*600 {
		t.Errorf("%d bytes are said not to be shown", left)
	}
	if text, left := shown(items, true); strings.Count(text, "/secret") != 10 || left != 0 {
		t.Errorf("all: %d %s", left, text)
	}
	if text, left := shown(items[:2], false); strings.Count(text, "/secret") != 2 || left != 0 {
		t.Errorf("a short file: %d %s", left, text)
	}
}

// What is more than a new rule that refuses or asks is shown as it is, in the middle of a
// long file, too.
func TestARuleThatDoesMoreIsShownWhole(t *testing.T) {
	replace := func(old, new string) func(*loader.PlanItem) {
		return func(item *loader.PlanItem) {
			item.Now.Entry = protocol.RawMessage(strings.ReplaceAll(string(item.Now.Entry), old, new))
		}
	}
	for what, change := range map[string]func(*loader.PlanItem){
		"allow":            replace(`"action":"block"`, `"action":"allow"`),
		"context":          replace(`"action":"block","reason"`, `"action":"context","text"`),
		"failure":          replace(`"onFailure":"block"`, `"onFailure":"continue"`),
		"audit":            replace(`"can":"block"`, `"can":"block","mode":"audit"`),
		"command":          replace(`"can":"block"`, `"can":"block","command":["x"]`),
		"no object":        func(item *loader.PlanItem) { item.Now.Entry = protocol.RawMessage(`["/secret5"]`) },
		"changed":          func(item *loader.PlanItem) { item.State = loader.StateChanged },
		"faults":           func(item *loader.PlanItem) { item.Faults = []string{"a line"} },
		"another file":     func(item *loader.PlanItem) { item.Now.From = "/p/.acai/hooks/y.rules.yaml:2" },
		"no file of rules": func(item *loader.PlanItem) { item.Now.From = "" },
	} {
		items := packItems(10, func(item *loader.PlanItem, i int) {
			if i == 5 {
				change(item)
			}
		})
		if text, _ := shown(items, false); strings.Count(text, "/secret") != 1 || !strings.Contains(text, "9 new rules") || strings.Contains(text, "r5  block at") {
			t.Errorf("%s: %s", what, text)
		}
	}
}
