package protocol

import (
	"fmt"
	"regexp"
	"strings"
)

// veiled is a sensitive hook's answer without what may repeat values of its event:
// what it wrote to stderr, what quotes its output. Its verdict's reason stays, which
// it wrote to be read. No screen, program or record gets more.
func (a Answer) veiled() Answer {
	a.Stderr = ""
	warnings := a.Warnings
	a.Warnings = nil
	for _, w := range warnings {
		a.Warnings = append(a.Warnings, veiledText(w))
	}
	if a.Failure != nil {
		f := *a.Failure
		switch f.Kind {
		case FailExit:
			f.Detail = "it ended with another exit code than 0"
			if a.Exit != nil {
				f.Detail = fmt.Sprintf("exit code %d", *a.Exit)
			}
		case FailReply:
			f.Detail = "its reply does not count"
		default:
			f.Detail = veiledText(f.Detail)
		}
		a.Failure = &f
	}
	return a
}

// quotation is a text in double quotes as %q writes it.
var quotation = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// invalidReply begins the warning about a refusal that is not valid otherwise.
const invalidReply = "the reply is not valid"

func veiledText(text string) string {
	if besides, found := strings.CutPrefix(text, BesidesReply); found {
		return fmt.Sprintf("%s[%d bytes]", BesidesReply, len(besides))
	}
	if strings.HasPrefix(text, invalidReply) {
		return invalidReply
	}
	return quotation.ReplaceAllString(text, `"…"`)
}
