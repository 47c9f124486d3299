//go:build unix

package main

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// replace replaces this program. It returns if that fails.
func replace(path string, argv []string) {
	_ = unix.Exec(path, argv, os.Environ())
}

// putOnStdin makes stdin a file that holds the input.
func putOnStdin(input []byte) error {
	fd, err := memoryFile()
	if err != nil {
		return err
	}
	if err := writeAll(fd, input, time.Time{}); err != nil {
		return err
	}
	if _, err := unix.Seek(fd, 0, 0); err != nil {
		return err
	}
	return dup(fd, 0)
}
