package text

import (
	"regexp"
	"strings"
	"sync"
)

// Hide returns a text without the words of secrets, wherever they stand in it. Words of
// fewer than eight bytes are such as Bearer, or no secret. A name and password in front
// of a host are hidden, too: a setting, a server or a model may have written them.
func Hide(text string, secrets []string) string {
	for _, secret := range secrets {
		for _, word := range append(strings.Fields(secret), secret) {
			if len(word) >= 8 {
				text = strings.ReplaceAll(text, word, hidden)
			}
		}
	}
	if strings.Contains(text, "@") {
		text = userinfo().ReplaceAllString(text, "$1"+hidden+"@")
	}
	return text
}

const hidden = "(hidden)"

// userinfo is what stands in front of the host in an address.
var userinfo = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)[^\s/@"']+@`) })
