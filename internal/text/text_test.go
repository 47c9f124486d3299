package text

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	known := []string{"timeout", "maxHooks", "onFailure"}
	for name, want := range map[string]string{
		"time_out": "timeout", "Timeuot": "timeout", "max-hooks": "maxHooks", "onfailur": "onFailure", "zebra": "", "": "",
		strings.Repeat("timeout", 20): "",
	} {
		if got := Nearest(name, known); got != want {
			t.Errorf("%.20q: %q, want %q", name, got, want)
		}
	}
}

func TestShorten(t *testing.T) {
	for text, want := range map[string]string{"abc": "abc", "abcde": "abcd…", "äöü": "äö…", "abcä": "abcä", "": ""} {
		if got := Shorten(text, 3); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
