package client_test

import (
	"os"
	"strings"
	"testing"
)

// The code in docs/go.md is that of the examples, which are compiled and run.
func TestGuideIsTheExamples(t *testing.T) {
	page, err := os.ReadFile("../docs/go.md")
	if err != nil {
		t.Fatal(err)
	}
	examples, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(page), "```go\n")[1:]
	if len(blocks) < 5 {
		t.Fatalf("only %d blocks of code", len(blocks))
	}
	for _, block := range blocks {
		code, _, _ := strings.Cut(block, "```")
		if strings.HasPrefix(code, "package main") || strings.HasPrefix(code, "func main()") {
			continue // what makes one program of them, which test/integration compiles and runs
		}
		if !strings.Contains(string(examples), code) {
			t.Errorf("not in example_test.go:\n%s", code)
		}
	}
}
