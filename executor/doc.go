// Package executor runs hooks: it asks the hooks of an event in order, each
// within its limits and contained, folds their answers into one outcome and
// records what was decided.
package executor
