//go:build !unix

package fsutil

import "os"

// hold does nothing here: a file that is open cannot be removed.
func hold(*os.File) bool { return false }

func removeUnheld(path string) { _ = os.Remove(path) }
