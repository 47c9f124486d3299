package meet

import (
	"errors"
	"os"
	"strconv"
)

// Peer is the process at the other end of a socket, as the kernel names it.
type Peer struct {
	UID int
	PID int // 0 where the system does not tell
}

// CheckUser fails unless the peer runs as our user.
func (p Peer) CheckUser() error {
	if own := os.Geteuid(); p.UID != own {
		return errors.New("the other end belongs to user " + strconv.Itoa(p.UID) + ", not to " + strconv.Itoa(own))
	}
	return nil
}

// wrapped is an error with what it is about. Package fmt would cost the messenger's start.
type wrapped struct {
	text string
	err  error
}

func (w *wrapped) Error() string { return w.text + ": " + w.err.Error() }
func (w *wrapped) Unwrap() error { return w.err }

func wrap(text string, err error) error { return &wrapped{text, err} }
