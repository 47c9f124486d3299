//go:build unix

package realpath

import (
	"io/fs"
	"syscall"
)

// Identify returns what a file or folder is, whatever it is called, and how many
// names a file has. known is false where the system does not say.
func Identify(info fs.FileInfo) (id Identity, names uint64, known bool) {
	st, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return Identity{}, 0, false
	}
	return Identity{uint64(st.Dev), uint64(st.Ino)}, uint64(st.Nlink), true
}
