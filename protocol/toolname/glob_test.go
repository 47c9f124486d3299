package toolname

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/bmatcuk/doublestar/v4"
)

// A pattern for tools is compared in time that grows with its length and the
// name's, not with what its braces and repetitions stand for.
func TestPatternsTakeBoundedTime(t *testing.T) {
	name := strings.Repeat("a", 900)
	for _, text := range []string{
		strings.Repeat("{a,a}", 190) + "x", strings.Repeat("{a,*}", 190) + "x", strings.Repeat("{a,{a,*}}", 100) + "x",
		strings.Repeat("*a", 400) + "x", "/" + strings.Repeat("(a?){1000}", 90) + "x/", "/" + strings.Repeat("(a*)*", 150) + "x/",
	} {
		began := time.Now()
		p, err := ParsePattern(text)
		if err == nil && p.Match(name, "") {
			t.Errorf("%.20q matches", text)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("%.20q took %s", text, took)
		}
	}
	for text, want := range map[string]bool{"mcp__*": true, "/x.*/": true, "bash": false} {
		if p, err := ParsePattern(text); err != nil || p.Match(strings.Repeat("a", 1<<20), "") != want {
			t.Errorf("%s and a name of 1 MiB: want %v, %v", text, want, err)
		}
	}
}

// What trying a glob out word by word finds, its expression finds as well. (The
// other way misses some ways through braces.)
func TestGlobsMeanTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	word := func(letters string, most int) string {
		var b strings.Builder
		for range 1 + r.IntN(most) {
			b.WriteByte(letters[r.IntN(len(letters))])
		}
		return b.String()
	}
	pieces := []string{"a", "b", "-", "/", "*", "**", "?", "[ab]", "[!a]", "[^a]", "[a-b]", "{a,b}", "{,a}", "{a*,b?}", "{a,{b,-}}", "{[!a],b-}", ".", ",", "ä"}
	for range 20_000 {
		var glob strings.Builder
		for range 1 + r.IntN(5) {
			glob.WriteString(pieces[r.IntN(len(pieces))])
		}
		p, err := ParsePattern(glob.String())
		if err != nil || !p.Glob {
			continue
		}
		name := strings.ReplaceAll(word("aabb-/,.A", 5), "A", "ä")
		want, err := doublestar.Match(strings.ReplaceAll(p.Text, "/", "\x00"), strings.ReplaceAll(name, "/", "\x00"))
		if err == nil && want && !p.Match(name, "") {
			t.Fatalf("%s does not match %s", glob.String(), name)
		}
	}
}
