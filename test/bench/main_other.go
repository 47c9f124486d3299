//go:build !unix

// Command bench measures hookd on Unix systems; see main.go.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "bench: hooks are measured on Unix systems only")
	os.Exit(1)
}
