package loader

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/loader/internal/files"
)

// A swap is what takes the place of a word of a command line that means a file or
// folder of the project: its private copy.
type swap struct {
	before string // what of the word stays: --config=
	name   string // of the member, or of the folder that members lie in
}

// projectPrefix stands before the names of what lies in the project's root in the
// bundle of a hook file, whose other members lie in the hooks folder.
const projectPrefix = ".project/"

// Bounds of a folder that a word of a command line names. A larger one is not
// watched, and said not to be.
const (
	maxTreeFiles = 500
	maxTreeBytes = 32 << 20
)

// located is where a path leads, as a program with the project for its working
// directory would take it.
type located struct {
	name   string // below the project's root, with slashes; "" if it leads elsewhere, "." for the root
	where  string
	st     files.Info
	exists bool
}

// locate tells whether a path lies in the project, as it is written or as its links
// lead.
func (in *place) locate(path string) (at located) {
	if in.root == "" || path == "" || strings.ContainsRune(path, 0) {
		return at
	}
	where := path
	if !filepath.IsAbs(where) {
		where = in.root + string(filepath.Separator) + where
	}
	at.where = filepath.Clean(where)
	if !files.Within(in.root, at.where) {
		real, err := filepath.EvalSymlinks(where)
		if err != nil || !files.Within(in.root, real) {
			return at
		}
		at.where = real
	}
	rel, err := filepath.Rel(in.root, at.where)
	if err != nil {
		return at
	}
	at.name = filepath.ToSlash(rel)
	at.st, err = files.Stat(at.where)
	at.exists = err == nil
	return at
}

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

// moduleEndings are what node and its kind try after a path.
var moduleEndings = []string{".js", ".cjs", ".mjs", ".json", ".node", ".ts", ".cts", ".mts", ".jsx", ".tsx"}

// addWords puts in what words of a command line name of the project: files, the
// files that an interpreter takes a word for, and folders with all that is in them.
// of is the kind of the program that reads the words.
func (f *found) addWords(b *bundle, hashes *files.HashCache, in *place, words []string, of kind, prefix string) error {
	if f.swaps == nil {
		f.swaps = map[string]swap{}
	}
	for _, word := range words {
		for _, part := range partsOf(word) {
			added, err := f.addPart(b, hashes, in, part, of, prefix)
			if err != nil {
				return err
			}
			if added != "" {
				f.swaps[word] = swap{part.before, added}
				break
			}
		}
		f.noteList(in, word)
	}
	return nil
}

// addPart puts in what one path names. It returns the member's name if the path is
// to be replaced by that of the copy.
func (f *found) addPart(b *bundle, hashes *files.HashCache, in *place, part part, of kind, prefix string) (swapped string, err error) {
	if strings.HasPrefix(part.path, "-") {
		return "", nil
	}
	at := in.locate(part.path)
	if at.name == "" {
		return "", nil
	}
	in.see(at.where)
	plain := part.before == "" && !strings.ContainsAny(part.path, "/.")
	put := func(name, where string) error { return b.put(hashes, prefix+name, where) }
	switch {
	case at.name == ".":
		f.note("%q hands it the whole project", part.before+part.path)
	case at.exists && at.st.Mode.IsRegular():
		if err := put(at.name, at.where); err != nil {
			return "", err
		}
		if plain && (of == kindRunner || of == kindLauncher) {
			return "", nil // the name of a task, and perhaps of a file
		}
		swapped = prefix + at.name
	case at.exists && at.st.Mode.IsDir():
		if of == kindRunner || of == kindLauncher {
			return "", nil // said of the runner
		}
		tree, err := in.tree(at)
		if errors.Is(err, errLargeTree) {
			f.note("the folder %s is too large to be watched", at.name)
			return "", nil
		}
		if err != nil {
			return "", err
		}
		for _, h := range tree {
			if err := put(h.name, h.path); err != nil {
				return "", err
			}
		}
		swapped = prefix + at.name
	}
	if of == kindNode || of == kindOther {
		for _, ending := range moduleEndings {
			more := at.where + ending
			in.see(more)
			if !files.IsRegular(more) {
				continue
			}
			if err := put(at.name+ending, more); err != nil {
				return "", err
			}
			swapped = prefix + at.name
		}
	}
	return swapped, nil
}

var errLargeTree = errors.New("a large folder")

// tree lists the files of a folder. A link to a file is taken for the file, one to
// a folder is not followed.
func (in *place) tree(at located) (list []helper, err error) {
	top, err := filepath.EvalSymlinks(at.where)
	if err != nil {
		return nil, err
	}
	size, looked := int64(0), 0
	err = filepath.WalkDir(top, func(where string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if looked++; looked > 4*maxTreeFiles {
			return errLargeTree
		}
		if d.IsDir() {
			in.see(where)
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
		if size += st.Size; size > maxTreeBytes || len(list) >= maxTreeFiles {
			return errLargeTree
		}
		list = append(list, helper{at.name + "/" + name, where})
		return err
	})
	return list, err
}

// noteList says that a list of paths leads into the project: which of them counts
// when is the program's own.
func (f *found) noteList(in *place, word string) {
	value := word
	if before, after, ok := strings.Cut(word, "="); ok && strings.HasPrefix(before, "-") {
		value = after
	}
	if strings.Contains(value, "://") || !strings.ContainsAny(value, ":,") {
		return
	}
	for _, path := range strings.FieldsFunc(value, func(c rune) bool { return c == ':' || c == ',' }) {
		if at := in.locate(path); at.name != "" && at.exists && (strings.ContainsAny(path, "/.") || filepath.IsAbs(path)) {
			f.note("%q names %s", word, at.name)
			return
		}
	}
}

// note notes code of the project that runs and is not part of what is allowed.
func (f *found) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(f.unwatched, text) {
		f.unwatched = append(f.unwatched, text)
	}
}

// copied returns words of a command line with the private copy in the place of
// every file of the bundle; folder is where the copies lie.
func (f *found) copied(words []string, folder string) []string {
	words = slices.Clone(words)
	for i, word := range words {
		if s, is := f.swaps[word]; is {
			words[i] = s.before + filepath.Join(folder, filepath.FromSlash(s.name))
		}
	}
	return words
}
