//go:build !concurrent

// These tests only compute: test/progress/goroutines.go says who runs them.

package install

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// TestLargeFile: ten megabytes of text are edited, and come back; a file of more values
// than an agent's settings have is refused at once.
func TestLargeFile(t *testing.T) {
	in := here(t)
	a := Find("gemini")
	path := a.Paths(in.Places, User)[0]
	text := "{\"a\": [" + strings.Repeat("{\"b\": \""+strings.Repeat("0123456789abcdef", 800)+"\"},\n", 800) + "1],\n \"c\": " + strings.Repeat("[", 900) + strings.Repeat("]", 900) + "}"
	write(t, path, text)
	install(t, in, a, User)
	uninstall(t, in, a, User)
	if got := read(t, path); got != text || len(got) < 10_000_000 {
		t.Errorf("%d bytes, want %d", len(got), len(text))
	}
	write(t, path, "{\"a\": ["+strings.Repeat("1,\n", 3_000_000)+"1]}")
	began := time.Now()
	var file *FileError
	if _, err := in.Plan(Request{Agent: a, Scope: User, Program: "/opt/hookd"}); !errors.As(err, &file) || file.Line == 0 || time.Since(began) > 5*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}
