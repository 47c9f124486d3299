//go:build unix

package main

// childArgument makes this program one of its own helpers.
const childArgument = "bench-child"

func child([]string) int { return 1 }
