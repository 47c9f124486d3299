package main

import (
	"errors"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

func memoryFile() (int, error) { return unix.MemfdCreate("hook input", unix.MFD_CLOEXEC) }

func dup(from, to int) error { return unix.Dup3(from, to, 0) }

// atExecFn is the kind of the entry that says which path was started (AT_EXECFN).
const atExecFn = 31

// startedAs returns the path of this program as the kernel was told to start it.
func startedAs() (string, error) {
	entries, err := unix.Auxv()
	if err != nil {
		return "", err
	}
	for _, entry := range entries {
		if entry[0] == atExecFn && entry[1] != 0 {
			// It lies on our stack, ends with a zero, and stays as long as we run.
			path := unix.BytePtrToString(*(**byte)(unsafe.Pointer(&entry[1])))
			return filepath.Abs(path)
		}
	}
	return "", errors.New("the system does not say what it has started")
}
