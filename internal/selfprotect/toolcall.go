package selfprotect

import (
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/toolname"
)

// Names of members of a call's args, without _ and -, in lower case. Agents and MCP servers
// name them differently and mean the same.
var (
	pathMembers = strings.Fields("path file filepath filename absolutepath relativepath relativeworkspacepath targetfile targetpath notebookpath " +
		"destination destinationpath dest dst to from source sourcepath src oldpath newpath paths files uri target output outputpath outputfile savepath outfile folder location")
	dirMembers     = strings.Fields("dir cwd workdir workingdirectory workingdir directory dirpath rootdir")
	commandMembers = strings.Fields("command commands cmd commandline shellcommand script bash shell")
	codeMembers    = strings.Fields("code source")
	// textMembers hold what is written, looked for or said, and no path.
	textMembers = strings.Fields("content contents text filetext newtext oldtext newstring oldstring newstr oldstr newcode body message title name description " +
		"query pattern regex search prompt label branch ref sql expression url explanation instructions")
	patchMembers = strings.Fields("patch input diff patchtext command content changes")
	verbMembers  = strings.Fields("command operation action mode method")
)

// readVerbs begin the names of tools, or are words in args, that only read.
var readVerbs = strings.Fields("read view get list search find stat show cat open directory tree grep glob head tail describe query fetch exists info")

// call judges a call by what its tool does to the world.
func (j *judge) call(c *call) {
	if jsonspan.Kind(c.Args) != '{' {
		return
	}
	kind := c.Kind
	if c.Unproven {
		kind = protocol.KindOther
	}
	switch kind {
	case protocol.KindRead, protocol.KindAgent:
	case protocol.KindShell:
		j.directories(c.Args)
		j.members(c.Args, func(name string, value protocol.RawMessage) {
			if slices.Contains(commandMembers, name) {
				j.commands(value)
			}
		})
	case protocol.KindWrite:
		if _, known := toolname.Kind(c.Name); !known && j.onlyReads(c.Args) {
			return
		}
		j.members(c.Args, func(name string, value protocol.RawMessage) {
			j.pathsIn(c.Name, name, value, false)
			if slices.Contains(patchMembers, name) && (name != "content" || strings.Contains(strings.ToLower(c.Name), "patch")) {
				j.patch(jsonspan.Text(value))
			}
		})
	default:
		if readsByName(c.Name) || j.onlyReads(c.Args) {
			return
		}
		j.directories(c.Args)
		j.members(c.Args, func(name string, value protocol.RawMessage) {
			switch {
			case slices.Contains(commandMembers, name):
				j.commands(value)
			case slices.Contains(codeMembers, name) && jsonspan.Kind(value) == '"':
				j.code(c.Name, jsonspan.Text(value))
			}
			j.pathsIn(c.Name, name, value, true)
			if slices.Contains(patchMembers, name) {
				j.patch(jsonspan.Text(value))
			}
		})
	}
}

// maxMembers of a call's args are looked at.
const maxMembers = 5000

// members calls visit with each member of an object that is a text or a list of texts,
// at any depth.
func (j *judge) members(object protocol.RawMessage, visit func(name string, value protocol.RawMessage)) {
	left := maxMembers
	var walk func(name string, value protocol.RawMessage, depth int)
	walk = func(name string, value protocol.RawMessage, depth int) {
		if left--; left < 0 || depth > 10 {
			return
		}
		switch jsonspan.Kind(value) {
		case '{':
			for _, m := range jsonspan.Members(value) {
				walk(memberName(m.Name), m.Value, depth+1)
			}
		case '[':
			visit(name, value)
			for _, element := range jsonspan.Elements(value) {
				if jsonspan.Kind(element) == '{' {
					walk(name, element, depth+1)
				}
			}
		case '"':
			visit(name, value)
		}
	}
	walk("", object, 0)
	if left < 0 {
		j.doubt("the call has too many args to look for hook settings in them")
	}
}

func memberName(name string) string { return strings.ToLower(withoutLines.Replace(name)) }

var withoutLines = strings.NewReplacer("_", "", "-", "")

// texts returns a text, or the texts of a list.
func texts(value protocol.RawMessage) (list []string) {
	switch jsonspan.Kind(value) {
	case '"':
		list = append(list, jsonspan.Text(value))
	case '[':
		for _, element := range jsonspan.Elements(value) {
			if jsonspan.Kind(element) == '"' {
				list = append(list, jsonspan.Text(element))
			}
		}
	}
	return list
}

// pathsIn judges the member of a call that writes, if it names a file. Of a tool that is
// not known also a text that looks like a path counts.
func (j *judge) pathsIn(tool, name string, value protocol.RawMessage, guess bool) {
	named := slices.Contains(pathMembers, name) || strings.HasSuffix(name, "path") || strings.HasSuffix(name, "file")
	for _, path := range texts(value) {
		path = strings.TrimPrefix(path, "file://")
		switch {
		case path == "" || len(path) > 4096 || strings.ContainsAny(path, "\n\x00"):
			continue
		case named:
		case !guess || slices.Contains(textMembers, name) || slices.Contains(commandMembers, name) || strings.ContainsAny(path, " \t"):
			continue
		case !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "~/") && !strings.HasPrefix(path, "."):
			continue
		}
		if rest, is := strings.CutPrefix(path, "~/"); is && j.options.Home != "" {
			path = j.options.Home + "/" + rest
		}
		for _, at := range []string{path, strings.ReplaceAll(path, `\`, "/")} {
			if place := j.scope.Write(j.absolute(at)); place != nil {
				j.refuse("%s would change %s, %s", tool, quoted(path), describe(place))
				break
			}
		}
	}
}

// directories takes the working directory that a call names.
func (j *judge) directories(args protocol.RawMessage) {
	for _, m := range jsonspan.Members(args) {
		if slices.Contains(dirMembers, memberName(m.Name)) && jsonspan.Kind(m.Value) == '"' && jsonspan.Text(m.Value) != "" {
			j.enter(plainPattern(jsonspan.Text(m.Value)))
		}
	}
}

// commands judges a shell line, a list of them, or the words of one: a list is taken for
// both.
func (j *judge) commands(value protocol.RawMessage) {
	list := texts(value)
	if jsonspan.Kind(value) == '[' && len(list) > 0 {
		words := make([]string, len(list))
		for i, word := range list {
			words[i] = quotedWord(word)
		}
		j.line(strings.Join(words, " "))
		list = slices.DeleteFunc(list, func(line string) bool { return !strings.ContainsAny(line, " \t\n;") })
	}
	for _, line := range list {
		j.line(line)
	}
}

// onlyReads reports whether the args of an editor say that it only shows the file.
func (j *judge) onlyReads(args protocol.RawMessage) bool {
	for _, m := range jsonspan.Members(args) {
		if slices.Contains(verbMembers, memberName(m.Name)) && jsonspan.Kind(m.Value) == '"' && slices.Contains(readVerbs, strings.ToLower(jsonspan.Text(m.Value))) {
			return true
		}
	}
	return false
}

// changeVerbs anywhere in a tool's name say that it does more than read.
var changeVerbs = strings.Fields("write edit replace delete remove update create move rename insert append patch apply put save modify")

// readsByName reports whether the name of a tool that no table knows says that it only
// reads: read_file, mcp__fs__listDirectory.
func readsByName(name string) bool {
	if at := strings.LastIndex(name, "__"); at >= 0 {
		name = name[at+2:]
	}
	lower := strings.ToLower(name)
	if slices.ContainsFunc(changeVerbs, func(verb string) bool { return strings.Contains(lower, verb) }) {
		return false
	}
	end := strings.IndexFunc(name, func(r rune) bool { return r == '_' || r == '-' || r == '.' })
	for i, r := range name {
		if i > 0 && r >= 'A' && r <= 'Z' && (end < 0 || i < end) {
			end = i
			break
		}
	}
	if end < 0 {
		end = len(name)
	}
	return slices.Contains(readVerbs, lower[:end])
}

// patch judges the files that a patch changes: one of Codex's form, or a diff.
func (j *judge) patch(text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		for _, header := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ", "+++ ", "--- ", "rename to ", "rename from "} {
			path, is := strings.CutPrefix(line, header)
			if !is {
				continue
			}
			path, _, _ = strings.Cut(strings.TrimSpace(path), "\t")
			for _, at := range []string{path, cutDiffPrefix(path)} {
				if place := j.scope.Write(j.absolute(at)); at != "" && place != nil {
					j.refuse("the patch would change %s, %s", quoted(at), describe(place))
					break
				}
			}
		}
	}
}

// cutDiffPrefix takes a/ or b/ away.
func cutDiffPrefix(path string) string {
	if strings.HasPrefix(path, "a/") || strings.HasPrefix(path, "b/") {
		return path[2:]
	}
	return path
}
