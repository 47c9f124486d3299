package protocol

import (
	"strings"
	"unicode"

	"github.com/agnivade/levenshtein"
)

// nearestOf returns the name that a misspelt word most likely means. Case and
// hyphens do not count, and the words of a name may be in the other order:
// toolbefore is BeforeTool.
func nearestOf(word string, names []string) string {
	word = shorten(word, 60)
	best, distance := "", 1<<30
	for _, name := range names {
		if d := distanceOf(word, name); d < distance {
			best, distance = name, d
		}
	}
	return best
}

// distanceOf is how many letters a word is away from a name.
func distanceOf(word, name string) int {
	d := levenshtein.ComputeDistance(plain(word), plain(name))
	if i := secondWord(name); i > 0 {
		d = min(d, 1+levenshtein.ComputeDistance(plain(word), plain(name[i:]+name[:i])))
	}
	return d
}

// plain is a name in small letters, without what joins its words.
func plain(name string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "", " ", "").Replace(name))
}

// secondWord is where the second word of a name begins, 0 if it has one only.
func secondWord(name string) int {
	for i, r := range name {
		if i > 0 && (unicode.IsUpper(r) || r == '-' || r == '_') {
			return i
		}
	}
	return 0
}
