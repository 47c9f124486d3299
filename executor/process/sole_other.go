//go:build !linux

package process

import "time"

// sole does nothing on this platform.
type sole struct{}

func newSole(*Options) *sole      { return nil }
func (s *sole) watches(*guardian) {}
func (s *sole) began(time.Time)   {}
func (s *sole) ended()            {}
func (s *sole) close()            {}
