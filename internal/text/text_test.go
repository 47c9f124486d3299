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

func TestHide(t *testing.T) {
	for given, want := range map[string]string{
		"401: Bearer sk-secret-1 is wrong":                     "401: Bearer (hidden) is wrong",
		"sk-secret-1sk-secret-1":                               "(hidden)(hidden)",
		`proxyconnect: http://me:pass@proxy:80/ "https://a@b"`: `proxyconnect: http://(hidden)@proxy:80/ "https://(hidden)@b"`,
		"mail me@example.com, see https://example.com/a@b":     "mail me@example.com, see https://example.com/a@b",
		"short is no secret":                                   "short is no secret",
	} {
		if got := Hide(given, []string{"Bearer sk-secret-1", "short", ""}); got != want {
			t.Errorf("%q: %q, want %q", given, got, want)
		}
	}
}
