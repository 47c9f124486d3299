//go:build race

package prove

// Race reports whether the race detector looks on.
const Race = true
