package realpath

import "io/fs"

// Identify knows nothing here: files are compared by their paths alone.
func Identify(fs.FileInfo) (id Identity, names uint64, known bool) { return Identity{}, 0, false }
