//go:build !linux

package fsutil

import "os"

// KeepAttributes does nothing: extended attributes are kept on Linux only.
func KeepAttributes(file, old *os.File) {}
