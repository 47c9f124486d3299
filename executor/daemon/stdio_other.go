//go:build !unix

package daemon

import (
	"os"

	"github.com/hookd-dev/hookd/protocol/rpc"
)

// Stdio takes stdin and stdout for the protocol: whatever else prints to
// [os.Stdout] from here on lands on stderr. It is to be called once, before
// anything is started.
func Stdio(limit int64) (*rpc.Conn, error) {
	in, out := os.Stdin, os.Stdout
	os.Stdout = os.Stderr
	return rpc.NewConn(in, out, limit), nil
}
