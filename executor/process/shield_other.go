//go:build !linux

package process

// Shield does nothing on this platform.
func Shield() {}
