package tables

import (
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/protocol"
)

func TestMarkdownHasARowForEachEvent(t *testing.T) {
	for name, text := range map[string]string{"table": Events(), "data": Data()} {
		lines := strings.Split(strings.TrimSpace(text), "\n")
		if len(lines) != len(protocol.Table)+2 {
			t.Errorf("%s has %d lines, want %d", name, len(lines), len(protocol.Table)+2)
		}
		for i, line := range lines {
			if got, want := strings.Count(line, "|")-2*strings.Count(line, "\\|")/2, strings.Count(lines[0], "|"); got != want {
				t.Errorf("%s, line %d has %d bars, want %d: %s", name, i, got, want, line)
			}
		}
	}
	for _, want := range []string{
		"| tool-call-start | gate | call not run, the model reads the reason as an error result, run goes on (`onToolBlock: stop`: `agent-error`) | call not run, run ends | `args`, stored; `result` replaces the tool | permission | – | – | appended to this result |",
		"| notification | notice | – | – | – | – | – | – | dropped |",
	} {
		if !strings.Contains(Events(), want+"\n") {
			t.Errorf("the table does not hold\n%s", want)
		}
	}
	if want := "| tool-call-end | Call · `result`: Result · `durationMs`: number · `synthetic`: bool (a hook answered in the tool's place) |"; !strings.Contains(Data(), want) {
		t.Errorf("%s\ndoes not hold\n%s", Data(), want)
	}
	if want := "| session-start | `SessionStart` |"; !strings.Contains(Aliases(), want) {
		t.Errorf("%s\ndoes not hold\n%s", Aliases(), want)
	}
}
