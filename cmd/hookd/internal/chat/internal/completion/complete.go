package completion

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hookd-dev/hookd/internal/text"
)

// mostEntries is how many entries of a folder are looked at.
const mostEntries = 5000

// Complete completes the last word of a text. names are what may follow a slash at the
// begin; root is the folder that files are named from. Without choices there is nothing that
// the word could become.
func Complete(written, root string, names []string) (completed string, choices []string) {
	begin := strings.LastIndexFunc(written, unicode.IsSpace) + 1
	word := written[begin:]
	var end func(choice string) string
	switch {
	case begin == 0 && strings.HasPrefix(word, "/"):
		choices = withPrefix(names, word[1:])
		end = func(string) string { return " " }
	case strings.HasPrefix(word, "@"):
		choices = files(root, word[1:])
		end = func(choice string) string {
			if strings.HasSuffix(choice, "/") {
				return ""
			}
			return " "
		}
	}
	switch len(choices) {
	case 0:
		return written, nil
	case 1:
		return written[:begin] + word[:1] + choices[0] + end(choices[0]), choices
	}
	return written[:begin] + word[:1] + commonPrefix(choices), choices
}

func withPrefix(names []string, prefix string) (choices []string) {
	for _, name := range names {
		if strings.HasPrefix(name, prefix) && text.Line(name) == name {
			choices = append(choices, name)
		}
	}
	slices.Sort(choices)
	return slices.Compact(choices)
}

// files returns the paths below root that begin so, folders with a slash at the end. Hidden
// ones are there if they are asked for. A name that does not show as it is, or that a blank
// would end, is left out.
func files(root, begun string) (choices []string) {
	folder, prefix := "", begun
	if slash := strings.LastIndexByte(begun, '/'); slash >= 0 {
		folder, prefix = begun[:slash+1], begun[slash+1:]
	}
	if folder != "" && !filepath.IsLocal(filepath.FromSlash(folder)) {
		return nil
	}
	open, err := os.Open(filepath.Join(root, filepath.FromSlash(folder)))
	if err != nil {
		return nil
	}
	defer open.Close()
	entries, err := open.ReadDir(mostEntries)
	if err != nil && err != io.EOF {
		return nil
	}
	for _, e := range entries {
		name := e.Name()
		switch {
		case !strings.HasPrefix(name, prefix),
			prefix == "" && strings.HasPrefix(name, "."),
			text.Line(name) != name || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsSpace):
			continue
		}
		if e.IsDir() {
			name += "/"
		}
		choices = append(choices, folder+name)
	}
	slices.Sort(choices)
	return choices
}

// commonPrefix returns what all begin with, whole characters only.
func commonPrefix(all []string) string {
	prefix := all[0]
	for _, one := range all[1:] {
		for !strings.HasPrefix(one, prefix) {
			_, size := utf8.DecodeLastRuneInString(prefix)
			prefix = prefix[:len(prefix)-size]
		}
	}
	return prefix
}
