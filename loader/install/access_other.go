//go:build !unix

package install

// mayWrite reports whether this user may write to a file or into a folder. Only trying
// tells that here, which writing does.
func mayWrite(string) bool { return true }

// changeable reports whether anybody but the administrator can change a program, which is
// not known here.
func changeable(string) bool { return false }
