package show

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// A terminal that can only print lines gets a line for what takes long, once, and no
// escape code; one of unknown size is as good as any other.
func TestProgressOnPoorTerminals(t *testing.T) {
	for name, dumb := range map[string]bool{"dumb": true, "any": false} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			g := &Progress{p: &Printer{W: &out, Width: usualWidth, Dumb: dumb}, working: map[string]time.Time{}, told: map[string]time.Time{}}
			g.Begin("slow.sh")
			now := time.Now()
			g.draw("*", now.Add(time.Second))
			for range 3 {
				g.draw("*", now.Add(3*time.Second))
			}
			g.End("slow.sh")
			if escapes := strings.Contains(out.String(), "\x1b"); escapes == dumb {
				t.Errorf("escape codes %v: %q", escapes, out.String())
			}
			if n := strings.Count(out.String(), "waiting for slow.sh"); dumb && n != 1 || n == 0 {
				t.Errorf("named %d times: %q", n, out.String())
			}
		})
	}
}
