package patterns

import (
	"fmt"
	"regexp"
	"regexp/syntax"
)

// mostInstructions bounds a regular expression once its repetitions are written
// out. The time to search a text grows with it: (a?){1000} is ten letters and a
// thousand steps for each character.
const mostInstructions = 10_000

// Compile compiles a regular expression (RE2) that settings, hooks or
// servers brought. One that grows too large is an error, found before it is built.
func Compile(text string) (*regexp.Regexp, error) {
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	if instructions(parsed) > mostInstructions {
		return nil, &SizeError{}
	}
	return regexp.Compile(text)
}

// SizeError is a regular expression that grows too large.
type SizeError struct{}

func (*SizeError) Error() string {
	return fmt.Sprintf("it repeats too much: written out it has more than %d steps", mostInstructions)
}

// instructions is about how many steps an expression has. It counts no further
// than it must.
func instructions(e *syntax.Regexp) int {
	n := 1
	switch e.Op {
	case syntax.OpLiteral:
		n = len(e.Rune)
	case syntax.OpCharClass:
		n = 1 + len(e.Rune)/64
	}
	for _, sub := range e.Sub {
		if n += instructions(sub); n > mostInstructions {
			return mostInstructions + 1
		}
	}
	if e.Op == syntax.OpRepeat {
		n *= max(e.Min+1, e.Max)
	}
	return min(n, mostInstructions+1)
}
