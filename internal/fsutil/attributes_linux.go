package fsutil

import (
	"bytes"
	"os"

	"golang.org/x/sys/unix"
)

// KeepAttributes gives a new file the extended attributes of an old one, access lists
// among them, as far as this user may. Capabilities go, as with any write.
func KeepAttributes(file, old *os.File) {
	from, to := int(old.Fd()), int(file.Fd())
	names := make([]byte, 64<<10)
	n, err := unix.Flistxattr(from, names)
	if err != nil {
		return
	}
	value := make([]byte, 64<<10)
	for attribute := range bytes.SplitSeq(names[:n], []byte{0}) {
		name := string(attribute)
		if name == "" || name == "security.capability" {
			continue
		}
		if n, err := unix.Fgetxattr(from, name, value); err == nil {
			_ = unix.Fsetxattr(to, name, value[:n], 0)
		}
	}
}
