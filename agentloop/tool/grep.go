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
	folder    Folder
	protected *Protected
	pattern   *regexp.Regexp
	base      string
	glob      string
	found     int
	skipped   int // files too large to search
	text      strings.Builder
}

func (a grepArgs) path() string { return cmp.Or(a.Path, ".") }

func (f *files) grep(ctx context.Context, args grepArgs) (protocol.Result, error) {
	pattern, err := protocol.CompileExpression(args.Pattern)
	if err != nil {
		return failed("%v", err)
	}
	if !doublestar.ValidatePattern(args.Glob) {
		return failed("glob %s: %v", args.Glob, doublestar.ErrBadPattern)
	}
	if protocol.GlobTooWide(args.Glob) {
		return failed("glob %s: its braces stand for too many patterns", args.Glob)
	}
	args.Path = args.path()
	t, err := f.resolve(ctx, args.Path, false)
	if err != nil {
		return failed("%s: %v", args.Path, err)
	}
	root, err := t.enter(f.Folder, ".", false)
	if err != nil {
		return failed("%v", err)
	}
	defer root.Close()
	s := &search{folder: f.Folder, protected: t.protected, pattern: pattern, base: slash(t.relative), glob: args.Glob}
	err = fs.WalkDir(root.FS(), s.base, func(name string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return s.visit(name, entry, err)
	})
	if ctx.Err() != nil {
		return protocol.Result{}, context.Cause(ctx)
	}
	if err != nil {
		return failed("%s: %v", args.Path, plain(err))
	}
	return ok(s.result())
}

// visit searches one file. What cannot be read is passed over, as grep -s does,
// unless it is the very path that was asked for.
func (s *search) visit(name string, entry fs.DirEntry, err error) error {
	switch {
	case err != nil && name == s.base:
		return err
	case err != nil:
		return nil
	case entry.IsDir() && (entry.Name() == ".git" || s.refuses(name, entry)):
		return fs.SkipDir
	case !entry.Type().IsRegular() || isTemporary(entry.Name()) || !s.wanted(name) || s.refuses(name, entry):
		return nil
	case s.found >= maxMatches:
		return fs.SkipAll
	}
	t := target{filepath.FromSlash(name), s.protected}
	data, err := t.read(context.Background(), s.folder, maxGrepFile)
	if err != nil {
		s.skipped++
		return nil
	}
	if bytes.IndexByte(data[:min(len(data), 8192)], 0) < 0 {
		s.file(name, data)
	}
	return nil
}

func (s *search) refuses(name string, entry fs.DirEntry) bool {
	info, err := entry.Info()
	return err != nil || s.protected.Refuses(filepath.Join(s.protected.project, filepath.FromSlash(name)), info) != ""
}

func (s *search) wanted(name string) bool {
	if s.glob == "" {
		return true
	}
	below := strings.TrimPrefix(strings.TrimPrefix(name, s.base), "/")
	return doublestar.MatchUnvalidated(s.glob, below) || doublestar.MatchUnvalidated(s.glob, path.Base(name))
}

func (s *search) file(name string, data []byte) {
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

// slash is a relative path in the form of io/fs.
func slash(relative string) string { return filepath.ToSlash(relative) }
