package main

import (
	"context"
	"slices"
	"testing"
)

// A command line has only the command that it begins with, and all of them where it does not
// begin with one.
func TestACommandLineHasTheCommandThatItNames(t *testing.T) {
	p := newParts(context.WithCancelCause(t.Context()))
	var names []string
	for _, c := range commands(p) {
		if got := c.make().Name(); got != c.name {
			t.Errorf("%s makes the command %s", c.name, got)
		}
		if root := newRoot(p, []string{c.name, "--help"}); len(root.Commands()) != 1 || root.Commands()[0].Name() != c.name {
			t.Errorf("%s --help has the commands %v", c.name, root.Commands())
		}
		names = append(names, c.name)
	}
	for _, args := range [][]string{nil, {"--help"}, {"help", "list"}, {"--project", "list", "check"}, {"lst"}, {"__complete", "tr"}} {
		var got []string
		for _, c := range newRoot(p, args).Commands() {
			got = append(got, c.Name())
		}
		if !slices.Equal(got, names) {
			t.Errorf("%q has the commands %q, not %q", args, got, names)
		}
	}
}
