package files

import (
	"fmt"
	"os"
)

// PrivateFolder makes sure that a folder exists, belongs to the user and lets
// nobody else in.
func PrivateFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	st, err := Lstat(dir)
	switch {
	case err != nil:
		return err
	case !st.Mode.IsDir():
		return fmt.Errorf("%s is not a folder", dir)
	}
	return CheckPrivate(dir, st)
}
