package text

import (
	"strings"
	"unicode"

	"github.com/agnivade/levenshtein"
)

// longestName is as long as a name is compared: nobody means a longer one, and
// looking for it takes time.
const longestName = 100

// Nearest returns the known name that was probably meant, or "" if none is near: at
// most one letter in three differs. See [Distance] for what counts.
func Nearest(name string, known []string) string {
	if len(name) > longestName {
		return ""
	}
	best, distance := closest(name, known)
	if distance > max(1, len(name)/3) {
		return ""
	}
	return best
}

// Closest returns the known name that is the least far away, however far that is.
func Closest(name string, known []string) string {
	best, _ := closest(Shorten(name, longestName), known)
	return best
}

func closest(name string, known []string) (best string, distance int) {
	distance = 1 << 30
	for _, k := range known {
		if d := Distance(name, k); d < distance {
			best, distance = k, d
		}
	}
	return best, distance
}

// Distance is how many letters a word is away from a name; two neighbouring letters that
// changed places count as one. Case, hyphens, underscores and blanks count for nothing, and
// the two words of a name may be in the other order: toolbefore is one letter away from
// BeforeTool.
func Distance(word, name string) int {
	folded := Fold(word)
	d := apart(folded, Fold(name))
	if i := secondWord(name); i > 0 {
		d = min(d, 1+apart(folded, Fold(name[i:]+name[:i])))
	}
	return d
}

func apart(word, name string) int {
	if swapped(word, name) {
		return 1
	}
	return levenshtein.ComputeDistance(word, name)
}

// swapped reports whether a word is a name in which two neighbouring letters changed places.
func swapped(word, name string) bool {
	i := 0
	for i < min(len(word), len(name)) && word[i] == name[i] {
		i++
	}
	return len(word) == len(name) && i+1 < len(word) && word[i] == name[i+1] && word[i+1] == name[i] && word[i+2:] == name[i+2:]
}

var separators = strings.NewReplacer("_", "", "-", "", " ", "")

// Fold is a name in small letters, without what joins its words.
func Fold(name string) string { return strings.ToLower(separators.Replace(name)) }

// secondWord is where the second word of a name begins, 0 if it has one only.
func secondWord(name string) int {
	for i, r := range name {
		if i > 0 && (unicode.IsUpper(r) || r == '-' || r == '_') {
			return i
		}
	}
	return 0
}
