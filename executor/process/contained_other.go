//go:build !linux

package process

// Contained reports false: there are no control groups on this platform.
func Contained() bool { return false }
