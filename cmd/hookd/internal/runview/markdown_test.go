package runview

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/protocol"
)

const answer = "# The plan\nUse `go test` and **never\x1b[2J push** to 2**8, see `a ** b`.\n\n- one\n2. two\n> said\n```go\nfunc main() { x := \"# no heading\" }\n- no list **here**\n```\nDone `open\nplain."

// paints returns an answer that comes in pieces of a size, painted.
func paints(width, size int, color bool) string {
	var out bytes.Buffer
	v := NewTextPrinter(&show.Printer{W: &out, Color: color, Width: width}, Options{Folded: true})
	for rest := answer; rest != ""; {
		n := min(size, len(rest))
		v.Print(agentloop.Update{Kind: agentloop.UpdateDelta, Delta: agentloop.Delta{MessageID: "m", Text: rest[:n]}})
		rest = rest[n:]
	}
	v.text.end(v.p)
	return out.String()
}

// tagged writes what paints a text in words.
func tagged(text string) string {
	for code, name := range map[string]string{"1": "strong", "2": "quiet", "36": "name"} {
		text = strings.ReplaceAll(text, "\x1b["+code+"m", "<"+name+">")
	}
	return strings.ReplaceAll(text, "\x1b[m", "</>")
}

// TestMarkdownIsPaintedAsItComes asserts what is painted, at both widths and whatever the
// pieces are in which the text comes.
func TestMarkdownIsPaintedAsItComes(t *testing.T) {
	want := `<name>●</> <strong>#</><strong> The</><strong> plan</>
  Use <name>` + "`go</><name> test`</>" + ` and <strong>**never\x1b[2J</><strong> push**</> to 2**8, see <name>` + "`a</><name> **</><name> b`</>." + `
  
  <name>-</> one
  <name>2.</> two
  <quiet>></><quiet> said</>
  <quiet>` + "```go</>" + `
  <name>func</><name> main()</><name> {</><name> x</><name> :=</><name> "#</><name> no</><name> heading"</><name> }</>
  <name>-</><name> no</><name> list</><name> **here**</>
  <quiet>` + "```</>" + `
  Done <name>` + "`open</>" + `
  plain.
`
	for _, width := range []int{80, 120} {
		for _, size := range []int{1, 3, 1000} {
			if diff := cmp.Diff(want, tagged(paints(width, size, true))); diff != "" {
				t.Errorf("width %d, pieces of %d (-want +got):\n%s", width, size, diff)
			}
		}
	}
}

// TestMarkdownHidesNothing asserts that with the paint taken off, the screen shows the text
// as it shows it without colour, in narrow terminals too.
func TestMarkdownHidesNothing(t *testing.T) {
	paint := regexp.MustCompile(`\x1b\[[0-9;]*m`)
	for _, width := range []int{0, 10, 20, 80, 120} {
		plain := paints(width, 7, false)
		if got := paint.ReplaceAllString(paints(width, 7, true), ""); got != plain {
			t.Errorf("width %d: %s", width, cmp.Diff(plain, got))
		}
		words := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if want := words("●" + show.Visible(answer)); words(plain) != want {
			t.Errorf("width %d: %s", width, cmp.Diff(want, words(plain)))
		}
	}
}

// TestAnEditShowsItsDiff asserts that an edit that worked shows what changed, that a long one
// is cut and says so, and that one that failed shows nothing of it.
func TestAnEditShowsItsDiff(t *testing.T) {
	edit := func(old, text string, failed bool, width int) string {
		var out bytes.Buffer
		v := NewTextPrinter(&show.Printer{W: &out, Width: width}, Options{Folded: true})
		args, _ := protocol.Marshal(map[string]string{"path": "a.txt", "oldText": old, "newText": text})
		call := protocol.Call{ToolCallID: "c1", Name: "edit_file", Kind: protocol.KindWrite, Args: args}
		v.Print(eventYield(t, protocol.ToolCallStart, protocol.ToolCallStartData{Call: call}, protocol.Outcome{}))
		v.Print(eventYield(t, protocol.ToolCallEnd, protocol.ToolCallEndData{Call: call, Result: protocol.Result{Content: protocol.TextContent("replaced"), IsError: failed}, DurationMs: 5}, protocol.Outcome{}))
		_, diff, _ := strings.Cut(out.String(), "\n")
		return diff
	}
	for _, width := range []int{80, 120} {
		if diff := cmp.Diff("     same\n    -old\\x1b[2J\n    +new\n", edit("same\nold\x1b[2J\n", "same\nnew\n", false, width)); diff != "" {
			t.Errorf("a short edit (-want +got):\n%s", diff)
		}
		var long strings.Builder
		for i := range 30 {
			fmt.Fprintf(&long, "line %d\n", i)
		}
		got := edit("x\n", long.String(), false, width)
		if n := strings.Count(got, "\n"); n != shownDiff+1 || !strings.HasSuffix(got, "    … 19 lines more: /show 1\n") {
			t.Errorf("a long edit:\n%s", got)
		}
		if got := edit("a", "b", true, width); got != "" {
			t.Errorf("an edit that failed:\n%s", got)
		}
	}
}
