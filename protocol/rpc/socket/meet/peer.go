package meet

import (
	"fmt"
	"os"
)

// Peer is the process at the other end of a socket, as the kernel names it.
type Peer struct {
	UID int
	PID int // 0 where the system does not tell
}

// CheckUser fails unless the peer runs as our user.
func (p Peer) CheckUser() error {
	if own := os.Geteuid(); p.UID != own {
		return fmt.Errorf("the other end belongs to user %d, not to %d", p.UID, own)
	}
	return nil
}
