//go:build !linux && !darwin

package process

// NoExec reports false: this platform does not say.
func NoExec(string) bool { return false }
