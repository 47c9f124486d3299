//go:build !linux

package process

import "time"

// supervisor does nothing on this platform.
type supervisor struct{}

func newSupervisor(*Options) *supervisor { return nil }
func (s *supervisor) watches(*guardian)  {}
func (s *supervisor) began(time.Time)    {}
func (s *supervisor) ended()             {}
func (s *supervisor) close()             {}
