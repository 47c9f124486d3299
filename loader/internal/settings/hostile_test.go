//go:build !concurrent

// These tests only compute: test/progress/goroutines.go says who runs them.

package settings

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/protocol"
)

// A project's settings file is written by a stranger: whatever it holds, reading
// it ends soon, in bounded memory, with something to say.
func TestHostileSettings(t *testing.T) {
	const size = maxSize - 64
	fill := func(before, part, after string) string {
		return before + strings.Repeat(part, (size-len(before)-len(after))/len(part)) + after
	}
	numbered := func(before, format, after string) string {
		var b strings.Builder
		b.WriteString(before)
		for i := 0; b.Len() < size-100; i++ {
			fmt.Fprintf(&b, format, i)
		}
		return b.String() + after
	}
	tests := []struct{ name, file, text string }{
		{"brackets", "acai.json", fill("", "[", "")},
		{"objects in objects", "acai.json", fill("", `{"hooks":`, "")},
		{"entries that are numbers", "acai.json", fill(`{"hooks":{"use":[`, "1,", "1]}}")},
		{"entries that are empty", "acai.json", fill(`{"hooks":{"use":[`, "{},", "{}]}}")},
		{"unknown keys", "acai.json", numbered(`{"hooks":{`, `"k%d":1,`, `"x":1}}`)},
		{"one key again and again", "acai.json", fill(`{"hooks":{`, `"timeout":1,`, `"x":1}}`)},
		{"an entry of unknown keys", "acai.json", numbered(`{"hooks":{"use":[{`, `"k%d":1,`, `"x":1}]}}`)},
		{"one long key", "acai.json", fill(`{"hooks":{"`, "tim", `":1}}`)},
		{"one long event", "acai.json", fill(`{"hooks":{"use":[{"name":"x","events":["`, "tool-call", `"]}]}}`)},
		{"many events", "acai.json", fill(`{"hooks":{"use":[{"name":"x","events":[`, `"a",`, `"a"]}]}}`)},
		{"one long pattern", "acai.json", fill(`{"hooks":{"use":[{"name":"x","events":"*","match":{"tool":"/`, "(a|b)*", `/"}}]}}`)},
		{"one long glob", "acai.json", fill(`{"hooks":{"use":[{"name":"x","events":"*","match":{"tool":"`, "{a,", `"}}]}}`)},
		{"many patterns", "acai.json", fill(`{"hooks":{"use":[{"name":"x","events":"*","match":{"tool":[`, `"/(a+)+/",`, `"a"]}}]}}`)},
		{"one long number", "acai.json", fill(`{"hooks":{"timeout":1`, "0", `}}`)},
		{"many denied", "acai.json", numbered(`{"agent":{"tools":{"bash":{"deny":[`, `"%d",`, `"x"]}}}}`)},
		{"aliases of aliases", "acai.yaml", func() string {
			text := "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
			for i := range 20 {
				text += fmt.Sprintf("a%d: &a%d [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]\n", i+1, i+1, i, i, i, i, i, i, i, i, i)
			}
			return text + "hooks: {use: *a20}\n"
		}()},
		{"flow in flow", "acai.yaml", fill("", "[", "")},
		{"maps in maps", "acai.yaml", fill("", "? ", "")},
		{"lists in lists", "acai.yaml", fill("", "- ", "")},
		{"many anchors", "acai.yaml", numbered("", "k%d: &a x\n", "")},
		{"dots", "acai.toml", fill("", "a.", "a = 1")},
		{"dots in a header", "acai.toml", fill("[", "a.", "a]")},
		{"many tables", "acai.toml", numbered("", "[t%d]\n", "")},
		{"many tables of one list", "acai.toml", fill("", "[[hooks.use]]\n", "")},
		{"brackets in toml", "acai.toml", fill("a = ", "[", "")},
		{"inline tables", "acai.toml", fill("a = ", "{a=", "")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			began := time.Now()
			layer, findings, err := Decode(tt.file, []byte(tt.text), protocol.Project)
			_, more := Merge(layer)
			took := time.Since(began)
			runtime.ReadMemStats(&after)
			t.Logf("%s, %d MiB allocated, %d findings, %v", took, (after.TotalAlloc-before.TotalAlloc)>>20, len(findings), err)
			// The work is bounded by what is allocated, which a busy machine does
			// not change; the time is for what works without allocating.
			if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 160<<20 {
				t.Errorf("reading allocated %d MiB", allocated>>20)
			}
			if took > 20*time.Second {
				t.Errorf("reading took %s", took)
			}
			quiet := map[string]bool{"many denied": true, "many anchors": true, "many tables": true, "dots": true, "dots in a header": true}
			if err == nil && len(findings)+len(more) == 0 && !quiet[tt.name] {
				t.Error("nothing reported")
			}
			if len(findings) > 1002 {
				t.Errorf("%d findings", len(findings))
			}
		})
	}
}
