package bundle

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/interpreter"
)

// A swap is what takes the place of a word of a command line that means a file or
// folder of the project: its private copy.
type swap struct {
	before string // what of the word stays: --config=
	Name   string // of the member, or of the folder that members lie in
}

// ProjectPrefix stands before the names of what lies in the project's root in the
// bundle of a hook file, whose other members lie in the hooks folder.
const ProjectPrefix = ".project/"

// Bounds of a folder that a word of a command line names. A larger one is not
// watched, and said not to be.
const (
	MaxTreeFiles = 500
	maxTreeBytes = 32 << 20
)

// part is a part of a word that may be a path.
type part struct{ before, path string }

// partsOf are the ways in which a word may carry a path: alone, --config=path,
// -Ipath, @path, file://path.
func partsOf(word string) []part {
	parts := []part{{"", word}}
	if name, value, ok := strings.Cut(word, "="); ok {
		parts = append(parts, part{name + "=", value}, part{name + "=@", strings.TrimPrefix(value, "@")})
	}
	if strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && len(word) > 2 {
		parts = append(parts, part{word[:2], word[2:]})
	}
	for _, mark := range []string{"@", "file://", "file:"} {
		if rest, ok := strings.CutPrefix(word, mark); ok {
			parts = append(parts, part{mark, rest})
		}
	}
	return parts
}

// ModuleEndings are what node and its kind try after a path.
var ModuleEndings = []string{".js", ".cjs", ".mjs", ".json", ".node", ".ts", ".cts", ".mts", ".jsx", ".tsx"}

// addWords puts in what words of a command line name of the project: files, the
// files that an interpreter takes a word for, and folders with all that is in them.
// of is the kind of the program that reads the words.
func (c *Code) addWords(d *Draft, words []string, of interpreter.Kind, prefix string) error {
	if c.Swaps == nil {
		c.Swaps = map[string]swap{}
	}
	for _, word := range words {
		for _, part := range partsOf(word) {
			added, err := c.addPart(d, part, of, prefix)
			if err != nil {
				return err
			}
			if added != "" {
				c.Swaps[word] = swap{part.before, added}
				break
			}
		}
		c.noteList(d.Builder, word)
	}
	return nil
}

// addPart puts in what one path names. It returns the member's name if the path is
// to be replaced by that of the copy.
func (c *Code) addPart(d *Draft, part part, of interpreter.Kind, prefix string) (swapped string, err error) {
	if strings.HasPrefix(part.path, "-") {
		return "", nil
	}
	at := d.Locate(part.path)
	if at.Name == "" {
		return "", nil
	}
	d.See(at.Where)
	plain := part.before == "" && !strings.ContainsAny(part.path, "/.")
	put := func(name, where string) error { return d.put(prefix+name, where) }
	switch {
	case at.Name == ".":
		c.Note("%q hands it the whole project", part.before+part.path)
	case at.Exists && at.Info.Mode.IsRegular():
		if err := put(at.Name, at.Where); err != nil {
			return "", err
		}
		if plain && (of == interpreter.KindRunner || of == interpreter.KindLauncher) {
			return "", nil // the name of a task, and perhaps of a file
		}
		swapped = prefix + at.Name
	case at.Exists && at.Info.Mode.IsDir():
		if of == interpreter.KindRunner || of == interpreter.KindLauncher {
			return "", nil // said of the runner
		}
		tree, err := d.tree(at)
		if errors.Is(err, errLargeTree) {
			c.Note("the folder %s is too large to be watched", at.Name)
			return "", nil
		}
		if err != nil {
			return "", err
		}
		for _, h := range tree {
			if err := put(h.Name, h.Path); err != nil {
				return "", err
			}
		}
		swapped = prefix + at.Name
	}
	if of == interpreter.KindNode || of == interpreter.KindOther {
		for _, ending := range ModuleEndings {
			more := at.Where + ending
			d.See(more)
			if !files.IsRegular(more) {
				continue
			}
			if err := put(at.Name+ending, more); err != nil {
				return "", err
			}
			swapped = prefix + at.Name
		}
	}
	return swapped, nil
}

var errLargeTree = errors.New("a large folder")

// tree lists the files of a folder. A link to a file is taken for the file, one to
// a folder is not followed.
func (in *Builder) tree(at interpreter.Located) (list []Helper, err error) {
	top, err := filepath.EvalSymlinks(at.Where)
	if err != nil {
		return nil, err
	}
	size, looked := int64(0), 0
	err = filepath.WalkDir(top, func(where string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if looked++; looked > 4*MaxTreeFiles {
			return errLargeTree
		}
		if d.IsDir() {
			in.See(where)
			if d.Name() == ".git" {
				return fs.SkipDir
			}
			return nil
		}
		st, err := files.Stat(where)
		if err != nil || !st.Mode.IsRegular() {
			return nil
		}
		name, err := files.NameBelow(top, where)
		if size += st.Size; size > maxTreeBytes || len(list) >= MaxTreeFiles {
			return errLargeTree
		}
		list = append(list, Helper{at.Name + "/" + name, where})
		return err
	})
	return list, err
}
