package program

import "runtime/debug"

// Version returns the version that the link, or else the module, says of this program.
// hookd and its messenger are built together and say the same.
func Version(linked string) string {
	if linked != "" {
		return linked
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "devel"
}
