package text

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// Nearest returns the known name that was probably meant, or "" if none is near.
// Case, hyphens, underscores and blanks count for nothing.
func Nearest(name string, known []string) string {
	const longest = 100 // nobody means a longer one, and looking for it takes time
	if len(name) > longest {
		return ""
	}
	best, bestDistance := "", max(1, len(name)/3)+1
	for _, k := range known {
		if d := levenshtein.ComputeDistance(fold(name), fold(k)); d < bestDistance {
			best, bestDistance = k, d
		}
	}
	return best
}

var separators = strings.NewReplacer("_", "", "-", "", " ", "")

func fold(name string) string { return strings.ToLower(separators.Replace(name)) }
