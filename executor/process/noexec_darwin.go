package process

import "golang.org/x/sys/unix"

// NoExec reports whether a file lies on a file system mounted noexec, from which no
// program is started, whatever its mode.
func NoExec(path string) bool {
	var st unix.Statfs_t
	return unix.Statfs(path, &st) == nil && st.Flags&unix.MNT_NOEXEC != 0
}
