package record

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// path returns where the newest lines of a name are.
func path(dir, name string) string { return filepath.Join(dir, name+".jsonl") }

// segmentPath returns where earlier lines of a name are, up to number last.
func segmentPath(dir, name string, last int64) string {
	return filepath.Join(dir, fmt.Sprintf("%s.%012d.jsonl", name, last))
}

// segment is an earlier part of a record.
type segment struct {
	path string
	last int64 // the number of its last line
}

// segments returns the earlier parts of a record, the oldest first.
func segments(dir, name string) []segment {
	folder, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer folder.Close()
	files, _ := folder.Readdirnames(-1)
	var parts []segment
	for _, file := range files {
		number, ours := strings.CutPrefix(strings.TrimSuffix(file, ".jsonl"), name+".")
		if !ours || !strings.HasSuffix(file, ".jsonl") {
			continue
		}
		if last, err := strconv.ParseInt(number, 10, 64); err == nil {
			parts = append(parts, segment{filepath.Join(dir, file), last})
		}
	}
	slices.SortFunc(parts, func(a, b segment) int { return cmp.Compare(a.last, b.last) })
	return parts
}

// names returns the names of all records in a folder.
func names(dir string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		return nil, err
	}
	found := map[string]bool{}
	for _, p := range paths {
		name, _ := nameOf(p)
		found[name] = true
	}
	return slices.Collect(maps.Keys(found)), nil
}

// nameOf returns the record's name that a file belongs to, and whether the file
// holds an earlier part of it.
func nameOf(path string) (name string, isSegment bool) {
	name, _, isSegment = strings.Cut(strings.TrimSuffix(filepath.Base(path), ".jsonl"), ".")
	return name, isSegment
}
