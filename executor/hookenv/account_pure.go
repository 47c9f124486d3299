//go:build (!cgo && !darwin) || android || osusergo

package hookenv

// believesEnvironment reports whether Go's look-up of the current user falls back on
// the environment: the build conditions are those of os/user.
const believesEnvironment = true
