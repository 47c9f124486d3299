package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// named is the value of a flag that names something. An empty one is no way to
// leave the flag out: it is what an unset variable of a script leaves, and what
// was meant by it would be left undone in silence.
type named struct{ to *string }

var errUnnamed = errors.New("it is empty; leave the flag out, or give it a value")

func (n named) String() string {
	if n.to == nil {
		return ""
	}
	return *n.to
}

func (n named) Type() string { return "string" }

func (n named) Set(value string) error {
	if strings.TrimSpace(value) == "" {
		return errUnnamed
	}
	*n.to = value
	return nil
}

// nameFlag adds a flag that names something; without it, *to stays as it is.
func nameFlag(c *cobra.Command, to *string, name, short, text string) {
	c.Flags().VarP(named{to}, name, short, text)
}

// exclusive refuses flags of which only one can be given.
func exclusive(c *cobra.Command, names ...string) {
	c.MarkFlagsMutuallyExclusive(names...) // so that completion does not offer them
	before := c.PreRunE                    // it runs before cobra's own check of the group
	c.PreRunE = func(c *cobra.Command, args []string) error {
		if before != nil {
			if err := before(c, args); err != nil {
				return err
			}
		}
		given := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !c.Flags().Changed(name) })
		if len(given) > 1 {
			return usage("usage", "--"+strings.Join(given, " and --")+" do not go together", "give one of them")
		}
		return nil
	}
}
