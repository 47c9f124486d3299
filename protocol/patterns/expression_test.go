package patterns

import (
	"strings"
	"testing"
	"time"
)

// A regular expression is bounded before it is built, however its size is written.
func TestExpressionsAreBounded(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("(a?b?){500}", 300), "(?:(?:a{100}){10}b{1000}){1}" + strings.Repeat("(x*y*z*){900,}", 50),
		strings.Repeat(`\pL{1000}`, 200), strings.Repeat("a", mostInstructions+1),
	} {
		began := time.Now()
		if _, err := Compile(text); err == nil || !strings.Contains(err.Error(), "repeats too much") {
			t.Errorf("%.20q: %v", text, err)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("%.20q took %s to refuse", text, took)
		}
		if _, err := Parse("/" + text[:min(len(text), longestPattern-2)/11*11] + "/"); strings.HasPrefix(text, "(a?") && err == nil {
			t.Errorf("%.20q is a pattern", text)
		}
	}
	for _, text := range []string{`git (push|pull) .*`, `(?i)\b(rm|del)\s+-[a-z]*r`, `[a-z]{1,64}`, `^(\d{1,3}\.){3}\d{1,3}$`, strings.Repeat("word|", 900)} {
		if _, err := Compile(text); err != nil {
			t.Errorf("%.20q: %v", text, err)
		}
	}
	if _, err := Compile("(a"); err == nil || !strings.Contains(err.Error(), "error parsing regexp") {
		t.Errorf("a broken one: %v", err)
	}
}
