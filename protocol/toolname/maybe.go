package toolname

import (
	"slices"
	"strings"
	"sync"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// mayBe are the kinds that a tool may be of whose name proves none: the likely one, and
// those that a member of its args says, by any agent's name for it. A call without such a
// member has nothing that a guard of that kind could judge: were it asked all the same, it
// would refuse every tool of every server.
func mayBe(likely protocol.ToolKind, args protocol.RawMessage) []protocol.ToolKind {
	kinds := []protocol.ToolKind{likely}
	members, _ := jsonspan.Object(args)
	for _, m := range members {
		for _, kind := range tellingMembers()[plainMember(m.Name)] {
			if !slices.Contains(kinds, kind) {
				kinds = append(kinds, kind)
			}
		}
	}
	slices.Sort(kinds[1:])
	return kinds
}

// told says what a member of hookd's args tells of a tool.
var told = map[string][]protocol.ToolKind{
	"command": {protocol.KindShell},
	"path":    {protocol.KindRead, protocol.KindWrite},
	"url":     {protocol.KindNet},
}

// otherNames are names for these members that no row of the vocabulary has.
var otherNames = map[string]string{
	"commands": "command", "commandline": "command", "shellcommand": "command", "script": "command", "code": "command",
	"paths": "path", "file": "path", "files": "path", "filename": "path", "targetfile": "path", "directory": "path", "dir": "path", "folder": "path",
	"destination": "path", "source": "path", "patch": "path", "diff": "path",
	"urls": "url", "uri": "url", "href": "url", "link": "url", "endpoint": "url",
}

// tellingMembers are the members of args that tell a kind, by their plain names.
var tellingMembers = sync.OnceValue(func() map[string][]protocol.ToolKind {
	all := make(map[string][]protocol.ToolKind)
	for ours, kinds := range told {
		all[ours] = kinds
	}
	for other, ours := range otherNames {
		all[other] = told[ours]
	}
	for _, tool := range Vocabulary {
		for _, arg := range tool.Args {
			if kinds := told[arg.Ours]; kinds != nil && arg.Form != Patch {
				all[plainMember(arg.Theirs)] = kinds
			}
		}
	}
	return all
})

// plainMember is a member's name without what agents write differently: case, _ and -.
func plainMember(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
}
