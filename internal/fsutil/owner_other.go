//go:build !unix

package fsutil

import (
	"io/fs"
	"os"
)

// KeepOwner does nothing: a new file belongs to its folder's owner.
func KeepOwner(*os.File, fs.FileInfo) bool { return true }

// MayKeepOwner reports whether this user can make a file with the owner of another one.
func MayKeepOwner(fs.FileInfo) bool { return true }
