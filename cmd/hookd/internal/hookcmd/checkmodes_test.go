package hookcmd

import (
	"strings"
	"testing"
)

// TestStartText: only a time that is always there, and is most of it, is a start.
func TestStartText(t *testing.T) {
	times := func(n int, at func(i int) float64) (all []float64) {
		for i := range n {
			all = append(all, at(i))
		}
		return all
	}
	for name, test := range map[string]struct {
		tookMs []float64
		want   string
	}{
		"a slow start":    {times(20, func(i int) float64 { return 24 + float64(i%5) }), "24 ms at least and 26 ms usually"},
		"too few runs":    {times(19, func(int) float64 { return 24 }), ""},
		"a fast hook":     {times(50, func(int) float64 { return 3 }), ""},
		"mostly its work": {times(50, func(i int) float64 { return 12 + 5*float64(i) }), ""},
		"no runs":         {nil, ""},
	} {
		got := startText(test.tookMs)
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
