package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// ErrEmptyValue refuses an empty value: a script with an unset variable would otherwise
// leave out in silence what it meant to say.
var ErrEmptyValue = errors.New("it is empty; leave the flag out, or give it a value")

// nameValue is the value of a flag that names something.
type nameValue struct{ to *string }

func (n nameValue) String() string {
	if n.to == nil {
		return ""
	}
	return *n.to
}

func (n nameValue) Type() string { return "string" }

func (n nameValue) Set(value string) error {
	if strings.TrimSpace(value) == "" {
		return ErrEmptyValue
	}
	*n.to = value
	return nil
}

// NameFlag adds a flag that names something, and refuses an empty name. Without the flag
// *to stays as it is.
func NameFlag(flags *pflag.FlagSet, to *string, name, short, text string) {
	flags.VarP(nameValue{to}, name, short, text)
}

// Exclusive refuses flags of which only one can be given.
func Exclusive(c *cobra.Command, names ...string) {
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
			return Usage("usage", "--"+strings.Join(given, " and --")+" do not go together", "give one of them")
		}
		return nil
	}
}

// AsUsage makes wrong arguments a usage fault.
func AsUsage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if check == nil {
			return nil
		}
		if err := check(c, args); err != nil {
			if fault := (*Fault)(nil); errors.As(err, &fault) {
				return err // the command says it better
			}
			message, hint := err.Error(), "see "+c.CommandPath()+" --help"
			switch _, names, _ := strings.Cut(c.Use, " "); {
			case c.HasSubCommands() || names == "" && len(args) == 0:
			case names == "":
				message = c.CommandPath() + " takes no argument, not " + args[0]
				if c.Flags().Changed("socket") {
					hint = "write --socket=" + args[0]
				}
			case strings.Contains(names, "..."), strings.Contains(names, "…"):
				message = c.CommandPath() + " takes one argument or more: " + names
			case strings.HasSuffix(names, "]") && !strings.Contains(names, "--"):
				message = c.CommandPath() + " takes " + names + "; a text of several words is one argument in quotes"
			default:
				message = c.CommandPath() + " takes one argument: " + strings.Fields(names)[0]
			}
			return Usage("usage", message, hint)
		}
		return nil
	}
}
