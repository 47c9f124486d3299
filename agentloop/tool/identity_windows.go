package tool

import "io/fs"

// identify knows nothing here: places are compared by their paths alone.
func identify(fs.FileInfo) (id identity, names uint64, known bool) { return identity{}, 0, false }
