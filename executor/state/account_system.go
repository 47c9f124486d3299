//go:build (cgo || darwin) && !android && !osusergo

package state

// believesEnvironment says whether Go's look-up of the current user falls back on
// the environment: the conditions are those of os/user.
const believesEnvironment = false
