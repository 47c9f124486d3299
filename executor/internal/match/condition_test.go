package match

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/test/prove"
)

// slowConditions take for ever, or all memory, where nothing bounds them.
func slowConditions() map[string]string {
	doubled := "let a0 = [data.list, data.list]; "
	for i := 1; i < 80; i++ {
		doubled += fmt.Sprintf("let a%d = [a%d, a%d]; ", i, i-1, i-1)
	}
	return map[string]string{
		"nested loops":                `sum(data.list, sum(data.list, sum(data.list, sum(data.list, len(data.list))))) > 0`,
		"nested all":                  `all(data.list, all(data.list, all(data.list, all(data.list, true))))`,
		"nested map":                  `len(map(data.list, map(data.list, map(data.list, 1)))) > 0`,
		"nested ranges":               `count(1..100000, count(1..100000, true) > 0) > 0`,
		"a long range":                `len(1..1000000000) > 0`,
		"many ranges":                 `count(1..300, len(1..900000) > 0) == 300`,
		"a text that doubles":         doubledText(30),
		"a value that doubles":        doubled + "a79 == [a78, a78]",
		"a value that doubles, in":    doubled + "[a78, a78] in [a79]",
		"regular expression":          `data.text matches "(x?){900}(x?){900}y$"`,
		"regular expression in loops": `all(data.list, data.text matches "(x+x+)+y$" == false)`,
		"pattern of the event":        `data.text matches data.text`,
		"upper case in a loop":        `len(map(1..100000, upper(data.text))) > 0`,
		"split in a loop":             `len(map(1..100000, split(data.text, ""))) > 0`,
		"search in a loop":            `all(1..1000000, not (data.text contains "xy"))`,
		"trim with a long set":        `trim(data.text, data.text) == "a"`,
	}
}

func doubledText(n int) string {
	text := `let t0 = data.text + data.text; `
	for i := 1; i < n; i++ {
		text += fmt.Sprintf("let t%d = t%d + t%d; ", i, i-1, i-1)
	}
	return text + fmt.Sprintf("len(t%d) > 0", n-1)
}

// No condition takes longer or more memory than its bounds, and one that is not
// decided counts as a match.
func TestConditionIsBounded(t *testing.T) {
	list := "[" + strings.Repeat("1,", 299) + "1]"
	ev := *toolEvent("bash", "shell")
	ev.Data = []byte(`{"toolCallId":"c1","name":"bash","kind":"shell","args":{},"parallel":1,"list":` + list + `,"text":"` + strings.Repeat("x", 1<<20) + `"}`)
	late := time.Duration(prove.Size(3000, 250)) * time.Millisecond // with the race detector, on a slow machine
	var longest time.Duration
	for name, when := range slowConditions() {
		t.Run(name, func(t *testing.T) {
			m, key, err := Compile(&schema.Match{When: when})
			if err != nil {
				t.Fatal(key, err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), ConditionTime)
			defer cancel()
			d, err := m.Decide(ctx, NewInput(&ev, nil))
			took := time.Since(began)
			longest = max(longest, took)
			runtime.ReadMemStats(&after)
			if err == nil {
				t.Errorf("it was decided: %v", d)
			}
			if d != Undecided {
				t.Errorf("what is not decided is %v: %v", d, err)
			}
			if took > ConditionTime+late {
				t.Errorf("took %s", took)
			}
			if grown := after.TotalAlloc - before.TotalAlloc; after.Sys-before.Sys > 600<<20 {
				t.Errorf("took %d MiB of the system, made %d MiB", (after.Sys-before.Sys)>>20, grown>>20)
			}
		})
	}
	prove.Figure(t, "G1", "%d conditions without end: none decided after its bounds, the longest took %s", len(slowConditions()), longest.Round(time.Millisecond))
}

// What conditions say as before, they decide as before.
func TestConditionsDecide(t *testing.T) {
	ev := *toolEvent("bash", "shell")
	ev.Data = []byte(`{"toolCallId":"c1","name":"bash","kind":"shell","args":{"command":"rm -rf /","n":3,"l":["a","b"],"o":{"x":[1]}},"parallel":1}`)
	for when, want := range map[string]bool{
		`data.args.command matches "^rm\\s"`:                                    true,
		`not (data.args.command matches "^ls")`:                                 true,
		`data.args?.none matches "x"`:                                           false,
		`data.args.command + "!" == "rm -rf /!"`:                                true,
		`data.args.n + 1 == 4 && data.parallel + 1 > 1`:                         true,
		`"a" in data.args.l and "command" in data.args`:                         true,
		`"c" in data.args.l`:                                                    false,
		`data.name in ["bash", "edit"]`:                                         true,
		`data.args.l == ["a", "b"] && data.args.o == {"x":[1]}`:                 true,
		`data.args.l != data.args.o`:                                            true,
		`any(data.args.l, # == "b") && len(filter(data.args.l, # != "b")) == 1`: true,
		`count(data.args.l, {# in ["a"]}) == 1`:                                 true,
		`upper(trim(" a ")) == "A" && lower("B") == "b"`:                        true,
		`split(data.args.command, " ")[0] == "rm"`:                              true,
		`len(keys(data.args)) == 4 && string(data.args.n) == "3"`:               true,
		`data.args?.missing?.deeper == nil`:                                     true,
		`(data.args?.missing ?? "x") == "x"`:                                    true,
		`data.args.command contains "rf" && data.args.command startsWith "rm"`:  true,
	} {
		m, key, err := Compile(&schema.Match{When: when})
		if err != nil {
			t.Errorf("%s: %s: %v", when, key, err)
			continue
		}
		if d, err := m.Decide(t.Context(), NewInput(&ev, nil)); err != nil || d != decisionOf(want) {
			t.Errorf("%s: %v, %v", when, d, err)
		}
	}
	for _, when := range []string{`len(repeat("x", 1000000)) > 0`, `len(uniq(data.list)) > 0`, strings.Repeat("1 == 1 && ", 1000) + "true", `data.name matches "("`} {
		if _, _, err := Compile(&schema.Match{When: when}); err == nil {
			t.Errorf("%.60s compiles", when)
		}
	}
}

// A regular expression that is small to write and large to run is refused, and the
// largest that is not keeps the condition's limit.
func TestLargeExpressionsKeepTheLimit(t *testing.T) {
	ev := *toolEvent("bash", "shell")
	ev.Data = []byte(`{"name":"bash","toolCallId":"x","args":{"command":"` + strings.Repeat("abc", 1_000_000) + `"}}`)
	for _, pattern := range []string{strings.Repeat("(a?b?c?){333}", 290), strings.Repeat("(a?b?c?){100}", 24), strings.Repeat("(.*.*.*){90}", 24), "(?i)" + strings.Repeat("(k?s?c?){90}", 24)} {
		m, _, err := Compile(&schema.Match{When: `data.args.command matches "` + pattern + `$"`})
		if err != nil {
			continue
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		began := time.Now()
		d, err := m.Decide(ctx, NewInput(&ev, nil))
		cancel()
		if took := time.Since(began); took > time.Second || d == No {
			t.Errorf("%.20s: %v after %s, %v", pattern, d, took, err)
		}
	}
	if _, _, err := Compile(&schema.Match{When: `data.args.command matches "` + strings.Repeat("(a?b?c?){333}", 290) + `"`}); err == nil {
		t.Error("an expression of 300,000 steps was taken")
	}
}
