package runview

import (
	"fmt"
	"strings"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
)

// details are what a printer has folded away. A person asks for them by their number.
type details []detail

type detail struct{ title, body string }

// keptDetails is how many of them are kept.
const keptDetails = 200

// add folds something away and returns its number.
func (d *details) add(title, body string) int {
	*d = append(*d, detail{title, body})
	if n := len(*d) - keptDetails; n > 0 {
		(*d)[n-1] = detail{} // the numbers of the others stay
	}
	return len(*d)
}

// get returns what has a number, 0 for the last, and "" if there is nothing.
func (d details) get(p *show.Printer, number int) string {
	if number == 0 {
		number = len(d)
	}
	if number < 1 || number > len(d) || d[number-1] == (detail{}) {
		return ""
	}
	one := d[number-1]
	return strings.TrimRight(p.In(show.Quiet, fmt.Sprintf("#%d ", number))+p.In(show.Strong, one.title)+"\n"+one.body, "\n")
}
