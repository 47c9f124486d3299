package realpath

import (
	"cmp"
	"path/filepath"
	"slices"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// OfCall makes an event about the call of a tool that reads or writes files say which file
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
		path := jsonspan.Text(jsonspan.Get(args, "path"))
		switch {
		case path == "" && slices.Contains(searches, name):
			path = "."
		case path == "":
			return protocol.Touched{}
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(base, path)
		}
		return Touched(project, path)
	}
	if jsonspan.Get(event.Data, "realPath") == nil {
		event.Data = protocol.WithTouched(event.Data, event.Touches(jsonspan.Get(event.Data, "args")))
	}
}

// searches are tools that begin where the agent is if the call names no path.
var searches = []string{"list_dir", "grep", "glob"}
