//go:build unix

package program

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Identity tells a file and its content from every other: device, number, size, and the
// times of the last change of its content and of anything about it. No program but root's
// can change a file and keep the last of them. "" stands for no identity.
type Identity string

// IdentityOf returns the identity of a file that is there now. A link is followed.
func IdentityOf(path string) (Identity, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return "", &os.PathError{Op: "stat", Path: path, Err: err}
	}
	b := strconv.AppendUint(make([]byte, 0, 100), uint64(st.Dev), 10)
	b = strconv.AppendUint(append(b, ' '), uint64(st.Ino), 10)
	b = strconv.AppendInt(append(b, ' '), st.Size, 10)
	b = strconv.AppendInt(append(b, ' '), st.Mtim.Nano(), 10)
	b = strconv.AppendInt(append(b, ' '), st.Ctim.Nano(), 10)
	return Identity(b), nil
}
