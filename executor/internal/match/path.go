package match

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/patterns"
	"github.com/hookd-dev/hookd/protocol/realpath"
	"github.com/hookd-dev/hookd/protocol/toolname"
)

// pathPattern is a compiled item of match.path. It is one of three:
//
//   - a name without a slash (.env, *.pem): a file, or a folder on the way to it, that is
//     called so, below the project, or anywhere if the file lies outside;
//   - a path from the project's root (config/**, ../other/**);
//   - a path that begins with / or with ~/, the user's home.
//
// A folder stands for all below it.
type pathPattern struct{ glob string }

// compilePaths compiles match.path.
func compilePaths(written []string) (list []pathPattern, err error) {
	for _, glob := range written {
		switch {
		case strings.TrimSpace(glob) == "":
			return nil, fmt.Errorf("an empty pattern matches nothing")
		case !doublestar.ValidatePattern(glob):
			return nil, fmt.Errorf("%q is no glob", glob)
		case patterns.TooWide(glob):
			return nil, fmt.Errorf("the braces of %q stand for too many patterns", glob)
		}
		glob = strings.TrimSuffix(strings.TrimPrefix(glob, "./"), "/")
		if rest, ofHome := strings.CutPrefix(glob, "~/"); ofHome {
			home := homeFolder()
			if home == "" {
				return nil, fmt.Errorf("%q: nobody knows your home folder", glob)
			}
			glob = joined(home, rest)
		}
		list = append(list, pathPattern{glob})
	}
	return list, nil
}

// filesOf are the files that a call reads or writes.
type filesOf struct {
	project string   // its real path
	real    []string // links followed
	names   []string // what else the files are called
	why     string   // why nobody knows which they are, "" where that is known
	any     bool     // the call may be about files
}

// paths returns the files of the call. They are looked up by the first matcher that
// needs them, once for all hooks.
func (in *Input) paths() *filesOf {
	if in.files != nil {
		return in.files
	}
	in.files = &filesOf{}
	kind, could := in.callOf(protocol.KindRead, protocol.KindWrite)
	if !could {
		return in.files
	}
	f, ev := in.files, *in.event
	f.any = true
	if !in.Scan() {
		f.why = "the data of the event cannot be read"
		return f
	}
	root := cmp.Or(ev.Project, ev.Cwd)
	f.project = root
	if real, err := realpath.Of(root); err == nil && root != "" {
		f.project = real
	}
	if kind != protocol.KindRead && kind != protocol.KindWrite {
		ev.Data = jsonspan.With(jsonspan.Without(ev.Data, "kind"), "kind", jsonspan.Quote(string(protocol.KindWrite)))
	}
	if jsonspan.Get(ev.Data, "realPath") == nil && jsonspan.Get(ev.Data, "realPaths") == nil {
		ev.Touches = nil
		realpath.OfCall(&ev, cmp.Or(ev.Cwd, ev.Project))
	}
	f.real = textsOf(ev.Data, "realPath", "realPaths")
	f.names = append(textsOf(ev.Data, "otherPaths"), asWritten(&ev)...)
	if len(f.real) == 0 {
		f.why = fmt.Sprintf("the call of %s does not say which files it is about", text.Shorten(in.Tool, 60))
	}
	return f
}

// asWritten are the paths of a call as the model wrote them, made absolute. A file that is
// reached by a link is known by this name, too, and some tools take ~/ for the home.
func asWritten(ev *protocol.Event) (list []string) {
	args, base := jsonspan.Get(ev.Data, "args"), cmp.Or(ev.Cwd, ev.Project)
	for _, path := range textsOf(args, "path", "paths") {
		if rest, ofHome := strings.CutPrefix(path, "~/"); ofHome && homeFolder() != "" {
			inHome := filepath.Join(homeFolder(), rest)
			list = append(list, inHome)
			if real, err := realpath.Of(inHome); err == nil {
				list = append(list, real)
			}
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(base, path)
		}
		list = append(list, filepath.Clean(path))
	}
	return list
}

// textsOf are the texts of members that hold a text or a list of texts.
func textsOf(object protocol.RawMessage, names ...string) (list []string) {
	for _, name := range names {
		switch value := jsonspan.Get(object, name); jsonspan.Kind(value) {
		case '"':
			list = append(list, jsonspan.Text(value))
		case '[':
			for _, each := range jsonspan.Elements(value) {
				list = append(list, jsonspan.Text(each))
			}
		}
	}
	return slices.DeleteFunc(list, func(path string) bool { return path == "" })
}

// pathHolds compares match.path with the files of the call. At an event that is about no
// call it does not restrict.
func (m *Matcher) pathHolds(in *Input) (Decision, error) {
	if len(m.path) == 0 || !in.isCall() {
		return Yes, nil
	}
	f := in.paths()
	matches := func(path string) bool {
		return slices.ContainsFunc(m.path, func(p pathPattern) bool { return p.matches(f.project, path) })
	}
	switch {
	case !f.any:
		return No, nil
	case m.Whole:
		return decisionOf(f.why == "" && !slices.ContainsFunc(f.real, func(path string) bool { return !matches(path) })), nil
	case slices.ContainsFunc(f.real, matches) || slices.ContainsFunc(f.names, matches):
		return Yes, nil
	case f.why != "":
		return Undecided, &undecidedKey{keyPath, f.why}
	}
	return No, nil
}

// matches reports whether the pattern is that of a path, or of a folder on the way to it.
func (p pathPattern) matches(project, path string) bool {
	path = filepath.ToSlash(path)
	below, err := filepath.Rel(project, filepath.FromSlash(path))
	inside := err == nil && filepath.IsLocal(below)
	if !strings.Contains(p.glob, "/") {
		names := path
		if inside {
			names = filepath.ToSlash(below)
		}
		return slices.ContainsFunc(strings.Split(names, "/"), func(name string) bool {
			return name != "" && doublestar.MatchUnvalidated(p.glob, name)
		})
	}
	glob := p.glob
	if !strings.HasPrefix(glob, "/") && filepath.VolumeName(glob) == "" {
		glob = joined(filepath.ToSlash(project), glob)
	}
	for path != "" {
		if doublestar.MatchUnvalidated(glob, path) {
			return true
		}
		at := strings.LastIndexByte(path, '/')
		if at <= 0 {
			break
		}
		path = path[:at]
	}
	return false
}

// joined returns a glob that begins at a folder. Steps upwards at its beginning are
// taken; the folder's name is no pattern.
func joined(folder, glob string) string {
	for {
		rest, up := strings.CutPrefix(glob, "../")
		if !up {
			return strings.TrimSuffix(plain(folder), "/") + "/" + glob
		}
		folder, glob = filepath.ToSlash(filepath.Dir(folder)), rest
	}
}

// plain returns a text as a glob that matches it alone.
func plain(name string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `{`, `\{`, `}`, `\}`).Replace(name)
}

// homeFolder is the real path of the user's home, "" if there is none.
var homeFolder = sync.OnceValue(func() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	if real, err := realpath.Of(home); err == nil {
		home = real
	}
	return filepath.ToSlash(home)
})

// kindPatterns are the patterns of the kinds that match.command and match.path are about.
var kindPatterns = sync.OnceValue(func() map[protocol.ToolKind]toolname.Pattern {
	kinds := map[protocol.ToolKind]toolname.Pattern{}
	for word, kind := range toolname.Kinds {
		if p, err := toolname.ParsePattern(word); err == nil {
			kinds[kind] = p
		}
	}
	return kinds
})

// isCall reports whether the event is about the call of a tool.
func (in *Input) isCall() bool {
	spec := in.event.Spec()
	return spec != nil && spec.Tool
}
