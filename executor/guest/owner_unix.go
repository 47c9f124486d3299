//go:build unix

package guest

import (
	"io/fs"
	"os"
	"syscall"
)

// isOwn reports whether a file belongs to this user or to root.
func isOwn(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && (int(stat.Uid) == os.Geteuid() || stat.Uid == 0)
}

// isOwnFolder reports whether a folder does.
func isOwnFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && isOwn(info)
}
