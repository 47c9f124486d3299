//go:build !linux

// Command asuser runs tests as another user, on Linux.
package main

import "os"

func main() {
	os.Stderr.WriteString("asuser: only on Linux\n")
	os.Exit(1)
}
