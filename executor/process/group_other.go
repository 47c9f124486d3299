//go:build !unix && !windows

package process

import "errors"

// newGroup fails: no process can be started here.
func newGroup([]string) (containment, error) {
	return nil, errors.New("programs cannot be run on this platform")
}
