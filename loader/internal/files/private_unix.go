//go:build unix

package files

import (
	"fmt"
	"os"
)

// CheckPrivate makes sure that only this user can read and write a file of the
// state folder.
func CheckPrivate(path string, st Info) error {
	if st.UID != os.Geteuid() {
		return fmt.Errorf("%s belongs to another user (%d)", path, st.UID)
	}
	if st.Mode.Perm()&0o077 != 0 {
		return fmt.Errorf("%s is open to others (mode %04o): chmod go= it", path, st.Mode.Perm())
	}
	return nil
}
