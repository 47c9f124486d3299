package main

import "github.com/hookd-dev/hookd/internal/program"

// version is set at link time by releases.
var version = ""

// versionName returns the version that the link, or the module, says.
func versionName() string { return program.Version(version) }
