//go:build !unix

package projectfile

const nonblock = 0
