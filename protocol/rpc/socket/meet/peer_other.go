//go:build !linux && !darwin

package meet

import "errors"

// ErrNoPeer says that no daemon can be believed on this system.
var ErrNoPeer = errors.New("this system does not tell who is at the other end of a socket")

// PeerOf always fails here, so that no socket is ever served or trusted.
func PeerOf(int) (Peer, error) { return Peer{}, ErrNoPeer }

// CheckExecutable always fails.
func (p Peer) CheckExecutable(string) error { return ErrNoPeer }

// Sign does nothing here.
func Sign() (off func()) { return func() {} }
