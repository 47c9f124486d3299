//go:build unix

package main

// reasons say of a target what keeps hookd from it, where it was not met: what the
// machine needs at the least, and where the rest goes. They are printed only then.
var reasons = map[string]string{}
