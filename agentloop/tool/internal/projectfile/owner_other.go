//go:build !unix

package projectfile

import (
	"io/fs"
	"os"
)

const nonblock = 0

func keepOwner(*os.File, fs.FileInfo) bool { return true }
