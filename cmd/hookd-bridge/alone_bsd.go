//go:build unix && !linux

package main

import "errors"

// Where no daemon is asked nothing is read before hookd is there.
func memoryFile() (int, error) { return 0, errors.ErrUnsupported }

func dup(int, int) error { return errors.ErrUnsupported }

// startedAs is needed on Linux only.
func startedAs() (string, error) { return "", errors.ErrUnsupported }
