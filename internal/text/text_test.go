package text

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	known := []string{"timeout", "maxHooks", "onFailure"}
	for name, want := range map[string]string{
		"time_out": "timeout", "Timeuot": "timeout", "max-hooks": "maxHooks", "onfailur": "onFailure", "zebra": "", "": "", "hooksMax": "maxHooks", "mxaHooks": "maxHooks",
		strings.Repeat("timeout", 20): "",
	} {
		if got := Nearest(name, known); got != want {
			t.Errorf("%.20q: %q, want %q", name, got, want)
		}
	}
}

func TestShorten(t *testing.T) {
	for text, want := range map[string]string{"abc": "abc", "abcde": "abc…", "äöü": "ä…", "abcä": "abc…", "": ""} {
		if got := Shorten(text, 3); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestClosest(t *testing.T) {
	names := []string{"BeforeTool", "AfterTool"}
	for name, want := range map[string]string{"toolbefore": "BeforeTool", "after": "AfterTool", "zebra": "BeforeTool"} {
		if got := Closest(name, names); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if got := Closest("x", nil); got != "" {
		t.Errorf("of no names %q", got)
	}
}

func TestDistance(t *testing.T) {
	for words, want := range map[[2]string]int{
		{"bahs", "bash"}: 1, {"bsah", "bash"}: 1, {"Bash", "bash"}: 0, {"bas", "bash"}: 1, {"basx", "bash"}: 1,
		{"abcd", "badc"}: 3, {"ab", "ba"}: 1, {"", "ab"}: 2, {"ab", ""}: 2,
	} {
		if got := Distance(words[0], words[1]); got != want {
			t.Errorf("%q: %d, want %d", words, got, want)
		}
	}
}
