//go:build !linux

package loader

// groupMayWrite reports whether somebody else may write a file whose mode says that
// its group may. Access lists are read on Linux only.
func groupMayWrite(_ string, st fileStat) bool { return !privateGroup(st.UID, st.GID) }
