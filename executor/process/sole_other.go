//go:build !linux

package process

import "time"

// sole does nothing on this platform.
type sole struct{}

func newSole(*Options) *sole      { return nil }
func (s *sole) watches(*guardian) {}
func (s *sole) began()            {}
func (s *sole) ended()            {}
func (s *sole) close()            {}
