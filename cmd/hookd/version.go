package main

import "runtime/debug"

// version is set at link time by releases.
var version = ""

// versionName returns the version that the link, or the module, says.
func versionName() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "devel"
}
