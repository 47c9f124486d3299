//go:build unix && !linux

package process

import "syscall"

// groupAlive reports whether a process group has a member.
func groupAlive(id int) bool { return syscall.Kill(-id, 0) == nil }
