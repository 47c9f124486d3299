//go:build !unix

package program

import (
	"os"
	"strconv"
)

// Identity tells a file and its content from other ones, here by size and time only: no
// daemon is believed on this system, so that nothing rests on it but a renewed record.
type Identity string

// IdentityOf returns the identity of a file that is there now.
func IdentityOf(path string) (Identity, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	return Identity(strconv.FormatInt(info.Size(), 10) + " " + strconv.FormatInt(info.ModTime().UnixNano(), 10)), nil
}
