package main

import "golang.org/x/sys/unix"

func memoryFile() (int, error) { return unix.MemfdCreate("hook input", unix.MFD_CLOEXEC) }

func dup(from, to int) error { return unix.Dup3(from, to, 0) }
