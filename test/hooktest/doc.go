// Package hooktest is what tests of several packages do alike: they fire events, read
// what hooks came to (outcomes.go), wait, and look for processes that outlived their
// owner (processes.go).
package hooktest
