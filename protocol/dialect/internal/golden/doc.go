// Package golden is for the tests of the packages above it: the inputs that agents wrote to
// hooks, and files with what becomes of them, which go test -update writes anew.
package golden
