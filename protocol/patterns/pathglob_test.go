package patterns

import (
	"strings"
	"testing"
)

func TestTooWide(t *testing.T) {
	for glob, want := range map[string]bool{
		"": false, "*.go": false, "src/**/*.{js,ts,jsx,tsx}": false, "{a,b}{c,d}/{e,{f,g}}": false, "}{,{": false, `\{a,b\}`: false,
		"{" + strings.Repeat("x,", 500) + "x}": false, strings.Repeat("{a,b}", 9): false,
		strings.Repeat("{a,b}", 10): true, strings.Repeat("{a,b}", 1000): true, strings.Repeat("{a,", 100): false, strings.Repeat("{", 1_000_000): true,
		"}" + strings.Repeat("{a,*}", 30): true, "{x," + strings.Repeat("{a,b}", 30) + "}": true, strings.Repeat("{a,b", 3) + strings.Repeat("{a,a}", 20): true,
	} {
		if got := TooWide(glob); got != want {
			t.Errorf("%.40q: %v", glob, got)
		}
	}
}
