package proxied

import (
	"fmt"
	"strings"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// Misread says which member of an object some programs take for one of those that are known,
// because they do not mind upper and lower case, or take a name to end at a NUL. "" is none.
func Misread(object protocol.RawMessage, known ...string) (member string) {
	for _, m := range jsonspan.Members(object) {
		if strings.ContainsRune(m.Name, 0) {
			return fmt.Sprintf("the member %s, whose name some programs take to end at the NUL", jsonspan.Quote(m.Name))
		}
		for _, name := range known {
			if m.Name != name && strings.EqualFold(m.Name, name) {
				return fmt.Sprintf("the member %s, which some programs take for %s", jsonspan.Quote(m.Name), name)
			}
		}
	}
	return ""
}

// MisreadMethod says for which known method some programs take another one, because they do not
// mind upper and lower case or blanks. "" is none.
func MisreadMethod(method string, known ...string) (problem string) {
	for _, name := range known {
		if method != name && strings.EqualFold(strings.TrimSpace(method), name) {
			return fmt.Sprintf("the method %s, which some programs take for %s, is none", jsonspan.Quote(method), name)
		}
	}
	return ""
}
