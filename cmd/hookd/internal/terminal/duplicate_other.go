//go:build !unix

package terminal

import "os"

// Duplicate returns the stream as it is: here a broken pipe is an error.
func Duplicate(stream *os.File) *os.File { return stream }

// IsClosed reports whether a stream was closed when this program began: here a write to
// it fails.
func IsClosed(*os.File) bool { return false }
