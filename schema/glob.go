package schema

import (
	"regexp"
	"strings"

	"github.com/hookd-dev/hookd/protocol"
)

// globExpression is the regular expression of a valid glob for tools' names: * is
// any run of characters, ? is one, [a-z] and [!a-z] are classes, {a,b} is either.
// A glob that is tried out word by word takes time that doubles with each pair of
// braces; an expression takes what the name is long.
func globExpression(glob string) (*regexp.Regexp, error) {
	var b strings.Builder
	b.WriteString(`(?s)\A(?:`)
	depth, inClass, first := 0, false, false
	for _, c := range glob {
		switch {
		case inClass && c == ']':
			inClass = false
			b.WriteByte(']')
		case inClass && first && (c == '!' || c == '^'):
			b.WriteByte('^')
		case inClass && c == '-':
			b.WriteByte('-')
		case inClass && strings.ContainsRune(`[\^`, c):
			b.WriteString(`\` + string(c))
		case inClass:
			b.WriteRune(c)
		case c == '[':
			inClass, first = true, true
			b.WriteByte('[')
			continue
		case c == '*':
			b.WriteString(`.*`)
		case c == '?':
			b.WriteByte('.')
		case c == '{':
			depth++
			b.WriteString(`(?:`)
		case c == '}' && depth > 0:
			depth--
			b.WriteByte(')')
		case c == ',' && depth > 0:
			b.WriteByte('|')
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
		first = false
	}
	b.WriteString(`)\z`)
	return protocol.CompileExpression(b.String())
}
