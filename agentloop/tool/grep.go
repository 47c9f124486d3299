package tool

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/patterns"
)

const (
	maxMatches   = 200
	maxMatchLine = 400     // bytes shown of a matching line
	maxGrepFile  = 4 << 20 // larger files are not searched
)

type grepArgs struct {
	Pattern string `json:"pattern" jsonschema:"regular expression in RE2 syntax"`
	Path    string `json:"path,omitempty" jsonschema:"folder or file to search; default: the project folder"`
	Glob    string `json:"glob,omitempty" jsonschema:"only files whose path below that folder matches, such as **/*.go"`
}

// search is one grep on its way through a folder.
type search struct {
	pattern *regexp.Regexp
	base    string // the searched folder, with slashes
	root    string // of the files, which are then named in full; "": the project's
	glob    string
	found   int
	skipped int // files that are too large or cannot be read
	text    strings.Builder
}

func (a grepArgs) path() string { return cmp.Or(a.Path, ".") }

func (f *files) grep(ctx context.Context, args grepArgs) (protocol.Result, error) {
	pattern, err := patterns.Compile(args.Pattern)
	if err != nil {
		return failed("%v", err)
	}
	if !doublestar.ValidatePattern(args.Glob) {
		return failed("glob %s: %v", args.Glob, doublestar.ErrBadPattern)
	}
	if patterns.TooWide(args.Glob) {
		return failed("glob %s: its braces stand for too many patterns", args.Glob)
	}
	args.Path = args.path()
	t, err := f.resolve(ctx, args.Path)
	if err != nil {
		return failed("%s: %v", args.Path, err)
	}
	s := &search{pattern: pattern, base: t.Relative(), glob: args.Glob}
	if other, _ := f.otherRoot(args.Path); other != "" {
		s.root = t.Root()
	}
	err = t.Walk(ctx, maxGrepFile, s.wanted, s.visit)
	if ctx.Err() != nil {
		return protocol.Result{}, context.Cause(ctx)
	}
	if err != nil {
		return failed("%s: %v", args.Path, err)
	}
	return ok(s.result())
}

// visit searches one file. Files that cannot be read are counted, and those with a NUL
// in front are binary.
func (s *search) visit(name string, data []byte, err error) error {
	switch {
	case s.found >= maxMatches:
		return fs.SkipAll
	case err != nil:
		s.skipped++
	case bytes.IndexByte(data[:min(len(data), 8192)], 0) < 0:
		s.file(name, data)
	}
	return nil
}

func (s *search) wanted(name string) bool {
	if s.glob == "" {
		return true
	}
	below := strings.TrimPrefix(strings.TrimPrefix(name, s.base), "/")
	return doublestar.MatchUnvalidated(s.glob, below) || doublestar.MatchUnvalidated(s.glob, path.Base(name))
}

func (s *search) file(name string, data []byte) {
	if s.root != "" {
		name = path.Join(filepath.ToSlash(s.root), name)
	}
	number := 0
	for line := range bytes.Lines(data) {
		number++
		line = bytes.TrimRight(line, "\r\n")
		if !s.pattern.Match(line) {
			continue
		}
		if s.found++; s.found > maxMatches {
			return
		}
		shown := string(line[:min(len(line), maxMatchLine)])
		fmt.Fprintf(&s.text, "%s:%d:%s\n", utf8Only(name), number, utf8Only(shown))
	}
}

func (s *search) result() string {
	switch {
	case s.found == 0:
		s.text.WriteString("no match\n")
	case s.found >= maxMatches:
		fmt.Fprintf(&s.text, "… stopped after %d matches …\n", maxMatches)
	}
	if s.skipped > 0 {
		fmt.Fprintf(&s.text, "%d files could not be read or are larger than %d bytes\n", s.skipped, maxGrepFile)
	}
	return s.text.String()
}
