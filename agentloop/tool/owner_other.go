//go:build !unix

package tool

import (
	"io/fs"
	"os"
)

func keepOwner(*os.File, fs.FileInfo) bool { return true }
