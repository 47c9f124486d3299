package realpath

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/fsutil"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// OfCall makes an event about the call of a tool that reads or writes files say which files
// the call touches, also after a hook changed its args. It is for hosts that do not say it
// themselves. A path of the call that is relative begins at base. Other events stay as they
// are.
func OfCall(event *protocol.Event, base string) {
	spec := event.Spec()
	kind := protocol.ToolKind(jsonspan.Text(jsonspan.Get(event.Data, "kind")))
	if spec == nil || !spec.Tool || event.Touches != nil || kind != protocol.KindRead && kind != protocol.KindWrite {
		return
	}
	name, project := jsonspan.Text(jsonspan.Get(event.Data, "name")), cmp.Or(event.Project, event.Cwd)
	event.Touches = func(args protocol.RawMessage) protocol.Touched {
		given := jsonspan.Get(args, "path")
		path, paths := jsonspan.Text(given), jsonspan.Elements(jsonspan.Get(args, "paths"))
		switch {
		case len(paths) > 0 && path != "":
			return touchedFiles(project, base, append([]protocol.RawMessage{given}, paths...))
		case len(paths) > 0:
			return touchedFiles(project, base, paths)
		case path == "" && slices.Contains(searches, name):
			path = "."
		case path == "":
			return protocol.Touched{}
		}
		return touchedFile(project, base, path)
	}
	if jsonspan.Get(event.Data, "realPath") == nil {
		event.Data = protocol.WithTouched(event.Data, event.Touches(jsonspan.Get(event.Data, "args")))
	}
}

func from(base, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(base, path)
}

// Bounds of what is looked up of a call that names several files.
const (
	mostFiles    = 1000
	mostSearches = 8 // for other names of a file
)

// touchedFiles says what a call on several paths would read or change. It is the zero
// value where that is not known of each of them, or would take too long to find out.
func touchedFiles(project, base string, paths []protocol.RawMessage) protocol.Touched {
	if len(paths) > mostFiles {
		return protocol.Touched{}
	}
	all, searched := protocol.Touched{}, 0
	for _, each := range paths {
		path := jsonspan.Text(each)
		if path == "" {
			return protocol.Touched{}
		}
		wild := strings.ContainsAny(path, "*?[{")
		written := path
		path = from(base, path)
		if info, err := os.Stat(path); err != nil && wild {
			return protocol.Touched{} // a pattern
		} else if err == nil && info.Mode().IsRegular() {
			if _, names, known := Identify(info); known && names > 1 {
				searched++
			}
		}
		if searched > mostSearches {
			return protocol.Touched{}
		}
		one := touchedFile(project, base, written)
		switch {
		case one.RealPath != "":
			all.RealPaths = append(all.RealPaths, one.RealPath)
		case one.RealPaths != nil:
			all.RealPaths = append(all.RealPaths, one.RealPaths...)
		default:
			return protocol.Touched{}
		}
		all.Links = max(all.Links, one.Links)
		all.OtherPaths = append(all.OtherPaths, one.OtherPaths...)
	}
	return all
}

// touchedFile is [Touched] for a tool of which nobody knows how it reads a path: by one with a link
// in front of .. the system goes to another file than a program that takes both away. The call may
// touch either.
func touchedFile(project, base, path string) protocol.Touched {
	one := Touched(project, from(base, path))
	if !strings.Contains(path, "..") || one.RealPath == "" {
		return one
	}
	if !filepath.IsAbs(path) {
		path = base + string(filepath.Separator) + path
	}
	other := Touched(project, fsutil.Followed(path))
	if other.RealPath == "" || other.RealPath == one.RealPath {
		return one
	}
	return protocol.Touched{
		RealPaths: []string{one.RealPath, other.RealPath}, Links: max(one.Links, other.Links),
		OtherPaths: append(one.OtherPaths, other.OtherPaths...),
	}
}

// searches are tools that begin where the agent is if the call names no path.
var searches = []string{"list_dir", "grep", "glob"}
