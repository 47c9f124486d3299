//go:build unix

package bridgecmd

import "syscall"

// apart starts a program in a session of its own: no signal to the agent's group and no
// end of its terminal reaches it.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
