package tool

import (
	"context"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/hookd-dev/hookd/protocol"
)

// TestBashShowsItsOutput asserts that output is shown while the command runs and
// that all of it is shown when the command has ended.
func TestBashShowsItsOutput(t *testing.T) {
	var pieces []string
	var first time.Time
	ctx := WithOutput(t.Context(), func(text string) {
		if first.IsZero() {
			first = time.Now()
		}
		pieces = append(pieces, text)
	})
	result, err := Bash(BashOptions{Project: t.TempDir()}).Run(ctx, protocol.RawMessage(`{"command":"echo one; sleep 0.5; printf 'zwei \\303'; sleep 0.1; printf '\\266'"}`))
	ended := time.Now()
	if err != nil {
		t.Fatal(err)
	}
	if shown := strings.Join(pieces, ""); shown != result.Content.Text() || shown != "one\nzwei ö" {
		t.Errorf("shown %q, result %q", shown, result.Content.Text())
	}
	if early := ended.Sub(first); early < 400*time.Millisecond {
		t.Errorf("the first piece came %s before the end", early)
	}
}

func TestShownPieces(t *testing.T) {
	text := "aé€😀z"
	for split := range len(text) + 1 {
		var pieces []string
		w := showing(WithOutput(context.Background(), func(piece string) { pieces = append(pieces, piece) }))
		w.Write([]byte(text[:split]))
		w.Write([]byte(text[split:]))
		if got := strings.Join(pieces, ""); got != text {
			t.Errorf("split at %d: %q", split, pieces)
		}
	}
	var got strings.Builder
	w := showing(WithOutput(context.Background(), func(piece string) { got.WriteString(piece) }))
	for range 100 {
		w.Write(make([]byte, 64<<10))
	}
	if got.Len() > shownLimit+64<<10+200 || !strings.HasSuffix(got.String(), "is not shown while the tool works …\n") {
		t.Errorf("%d bytes were shown", got.Len())
	}
}

func FuzzShown(f *testing.F) {
	f.Add([]byte("a\xc3"), []byte("\xb6b"))
	f.Add([]byte("\xf0\x9f"), []byte("\xff"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var got string
		w := showing(WithOutput(context.Background(), func(piece string) {
			if !utf8.ValidString(piece) {
				t.Errorf("%q is no text", piece)
			}
			got += piece
		}))
		w.Write(a)
		w.Write(b)
		if all := string(a) + string(b); utf8.ValidString(all) && got != all {
			t.Errorf("%q became %q", all, got)
		}
	})
}
