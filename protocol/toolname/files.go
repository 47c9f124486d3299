package toolname

import (
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// filesNamed returns the files that the args of an agent's call name in a patch or a list,
// each once and in their order.
func filesNamed(args []Arg, theirs protocol.RawMessage) (files []string) {
	add := func(file string) {
		if file != "" && !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	for _, a := range args {
		switch value := jsonspan.Get(theirs, a.Theirs); {
		case value == nil:
		case a.Form == Patch:
			filesOfPatch(jsonspan.Text(value), add)
		case a.Form == Files && jsonspan.Kind(value) == '[':
			for _, each := range jsonspan.Elements(value) {
				if jsonspan.Kind(each) == '{' {
					each = jsonspan.Get(each, "path")
				}
				add(jsonspan.Text(each))
			}
		}
	}
	return files
}

// filesOfPatch calls add with each file that a patch adds, changes, deletes or makes by
// moving another.
func filesOfPatch(patch string, add func(file string)) {
	for line := range strings.Lines(patch) {
		for _, begin := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "} {
			if file, is := strings.CutPrefix(strings.TrimSpace(line), begin); is {
				add(strings.TrimSpace(file))
			}
		}
	}
}

// filesMember is the member by which our form of a call says which files it names: path
// where that is one, else paths. It is empty for no file.
func filesMember(files []string) (name string, value protocol.RawMessage) {
	switch len(files) {
	case 0:
		return "", nil
	case 1:
		return "path", jsonspan.Quote(files[0])
	}
	return "paths", quoted(files...)
}
