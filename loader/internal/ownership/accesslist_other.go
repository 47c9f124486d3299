//go:build !linux

package ownership

import "github.com/hookd-dev/hookd/loader/internal/files"

// groupMayWrite reports whether somebody else may write a file whose mode says that
// its group may. Access lists are read on Linux only.
func groupMayWrite(_ string, st files.Info) bool { return !privateGroup(st.UID, st.GID) }
