//go:build unix

package tool

import (
	"io/fs"
	"syscall"
)

// identify returns what a file or folder is, whatever it is called, and how many
// names a file has. known is false where the system does not say.
func identify(info fs.FileInfo) (id identity, names uint64, known bool) {
	st, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return identity{}, 0, false
	}
	return identity{uint64(st.Dev), uint64(st.Ino)}, uint64(st.Nlink), true
}
