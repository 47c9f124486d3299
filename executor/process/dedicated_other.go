//go:build !linux

package process

import "time"

// dedication does nothing on this platform.
type dedication struct{}

func newDedication(*Options) *dedication { return nil }
func (s *dedication) watches(*guardian)  {}
func (s *dedication) began(time.Time)    {}
func (s *dedication) ended()             {}
func (s *dedication) close()             {}
