//go:build !linux

package projectfile

import "os"

func keepAttributes(*os.File, *os.Root, string) {}
