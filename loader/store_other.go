//go:build !linux

package loader

// intact leaves what was not seen yet to verify.
func (s store) intact(b *bundle) bool { return s.copies.same(s.folder(b.hash), b) }
