//go:build !unix

package install

// mayWrite reports whether this user may write to a file or into a folder. Only trying
// tells that here, which writing does.
func mayWrite(string) bool { return true }

// isQuota reports whether a user has used up the room that the system grants.
func isQuota(error) bool { return false }

// closed reports whether others than the administrator cannot start a program, which is not
// known here.
func closed(string) bool { return false }

// changeable reports whether anybody but the administrator can change a program, which is
// not known here.
func changeable(string) bool { return false }
