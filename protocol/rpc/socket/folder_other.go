//go:build !unix

package socket

import "github.com/hookd-dev/hookd/protocol/rpc/socket/meet"

func lockFolder(string) (func(), error) { return nil, meet.ErrNoPeer }

func refused(error) bool { return false }
