package foreignhooks

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol/patterns"
)

// fits reports whether a matcher fits what it is compared with.
type fits func(subject string) bool

const longestMatcher = 4 << 10 // bytes

// expression compiles a regular expression of another agent. Most agents run JavaScript,
// whose look-around and back-references no bounded engine has: such a matcher is an error.
func expression(source string) (*regexp.Regexp, error) {
	if len(source) > longestMatcher {
		return nil, fmt.Errorf("the matcher has %d bytes, the most is %d", len(source), longestMatcher)
	}
	compiled, err := patterns.Compile(source)
	if err != nil {
		return nil, fmt.Errorf("the matcher %q is no regular expression that hookd can compare: %w", text.Shorten(source, 60), err)
	}
	return compiled, nil
}

// unanchored is a regular expression that fits anywhere.
func unanchored(source string) (fits, error) {
	compiled, err := expression(source)
	if err != nil {
		return nil, err
	}
	return compiled.MatchString, nil
}

// anchored is a regular expression that fits as a whole.
func anchored(source string) (fits, error) { return unanchored("^(?:" + source + ")$") }

// alternatives is a matcher that names tools exactly, apart by one of separators, where
// it is made of plain characters only; any other is a regular expression that fits
// anywhere.
func alternatives(plain, separators string) func(string) (fits, error) {
	return func(matcher string) (fits, error) {
		if strings.Trim(matcher, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"+plain) != "" {
			return unanchored(matcher)
		}
		names := strings.FieldsFunc(matcher, func(r rune) bool { return strings.ContainsRune(separators, r) })
		return func(subject string) bool {
			for _, name := range names {
				if strings.TrimSpace(name) == subject {
					return true
				}
			}
			return false
		}, nil
	}
}

// expressionOrText is a regular expression that fits anywhere, or the text itself where
// the matcher is none in any language.
func expressionOrText(matcher string) (fits, error) {
	_, err := syntax.Parse(matcher, syntax.Perl)
	if wrong, is := errors.AsType[*syntax.Error](err); is {
		switch wrong.Code {
		case syntax.ErrMissingRepeatArgument, syntax.ErrMissingBracket, syntax.ErrMissingParen, syntax.ErrUnexpectedParen, syntax.ErrTrailingBackslash:
			return func(subject string) bool { return subject == matcher }, nil
		}
	}
	return unanchored(matcher)
}

// exactOrWhole is an exact name, or a regular expression that fits as a whole: between
// slashes, or with characters that only those have.
func exactOrWhole(matcher string) (fits, error) {
	if inner, is := strings.CutPrefix(matcher, "/"); is && strings.HasSuffix(inner, "/") {
		return anchored(strings.TrimSuffix(inner, "/"))
	}
	if strings.ContainsAny(matcher, `|.*+?[](){}^$\`) {
		return anchored(matcher)
	}
	return func(subject string) bool { return subject == matcher }, nil
}

// claudeMatcher compares names exactly where it is made of names alone.
var claudeMatcher = alternatives(" -,|", ",|")
