//go:build !linux

package process

// Ancestor is a process above this one.
type Ancestor struct {
	Pid          int
	Runs, Starts bool
	Environ      []string
}

// Ancestors is empty: this platform does not show what a process was started with.
func Ancestors() []Ancestor { return nil }

// Ancestry lists nothing, for the same reason.
type Ancestry struct{}

// NewAncestry returns one.
func NewAncestry(string) *Ancestry { return &Ancestry{} }

// Of is empty.
func (*Ancestry) Of(int) ([]Ancestor, error) { return nil, nil }

// Close does nothing.
func (*Ancestry) Close() {}

// CgroupDepthOf is 0, as CgroupDepth.
func CgroupDepthOf(int) int { return 0 }

// CgroupDepth is 0: there are no control groups on this platform.
func CgroupDepth() int { return 0 }
