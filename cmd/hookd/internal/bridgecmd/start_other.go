//go:build !unix

package bridgecmd

import "syscall"

// apart changes nothing: there is no socket for a daemon on this system.
func apart() *syscall.SysProcAttr { return nil }
