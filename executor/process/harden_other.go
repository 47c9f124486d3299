//go:build !linux

package process

// Harden does nothing on this platform.
func Harden() {}
