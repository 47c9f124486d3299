package process

// MaybeShim takes over the process when it was started by a Runtime as one of
// its helpers, and does not return then. Call it first in main, and in TestMain
// of packages whose tests make a Runtime.
func MaybeShim() {}
