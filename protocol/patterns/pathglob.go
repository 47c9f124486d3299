package patterns

// mostAlternatives is how many plain globs the braces of a glob may stand for. To
// match one takes time that is multiplied by each pair: {a,b}{a,b}{a,b} are eight.
const mostAlternatives = 1000

// TooWide reports whether the braces of a glob for paths stand for more than
// can be tried.
func TooWide(glob string) bool {
	g := globReader{text: glob}
	for g.at < len(g.text) {
		if g.sequence() > mostAlternatives {
			return true
		}
		g.at++ // a brace that closes nothing
	}
	return false
}

type globReader struct {
	text  string
	at    int
	depth int
}

// sequence counts what the text stands for up to the end of this branch.
func (g *globReader) sequence() int {
	product := 1
	for ; g.at < len(g.text); g.at++ {
		switch g.text[g.at] {
		case '\\':
			g.at++
		case '{':
			product = min(product*g.group(), mostAlternatives+1)
		case ',', '}':
			if g.depth > 0 || g.text[g.at] == '}' {
				return product
			}
		}
	}
	return product
}

// group counts what one pair of braces stands for, and ends at the second of them.
func (g *globReader) group() int {
	if g.depth > mostAlternatives {
		return mostAlternatives + 1
	}
	g.depth++
	defer func() { g.depth-- }()
	sum := 0
	for g.at < len(g.text) {
		g.at++
		sum = min(sum+g.sequence(), mostAlternatives+1)
		if g.at >= len(g.text) || g.text[g.at] == '}' {
			break
		}
	}
	return sum
}
