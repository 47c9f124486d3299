package selfprotect

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
)

// Names of members of a call's args, without _ and -, in lower case. Agents and MCP servers
// name them differently and mean the same.
var (
	pathMembers = strings.Fields("path file filepath filename absolutepath relativepath relativeworkspacepath targetfile targetpath notebookpath " +
		"destination destinationpath dest dst to from source sourcepath src oldpath newpath paths files uri target targets output outputpath outputfile savepath outfile folder location " +
		"pathinproject into dirpath directorypath linkpath")
	dirMembers     = strings.Fields("dir cwd workdir workingdirectory workingdir directory dirpath rootdir")
	commandMembers = strings.Fields("command commands cmd commandline shellcommand script bash shell argv")
	codeMembers    = strings.Fields("code source javascript js python py typescript ruby lua applescript program snippet cell function")
	programMembers = strings.Fields("program executable binary exe command cmd")
	wordMembers    = strings.Fields("args arguments argv params parameters")
	typedMembers   = strings.Fields("keys chars input text data stdin line lines content message")
	argsMembers    = strings.Fields("args arguments params parameters input toolinput toolargs payload request options")
	// contentMembers are what is written to a file.
	contentMembers = strings.Fields("content contents text filetext newtext newstring newstr newcode codecontent codeedit replacement repl data body")
	// textMembers hold what is written, looked for or said, and no path.
	textMembers = strings.Fields("content contents text filetext newtext oldtext newstring oldstring newstr oldstr newcode body message title name description " +
		"query pattern regex search prompt label branch ref sql expression url explanation instructions")
	patchMembers = strings.Fields("patch input diff patchtext command content changes")
	verbMembers  = strings.Fields("command operation action mode method")
)

// readVerbs begin the names of tools, or are words in args, that only read.
var readVerbs = strings.Fields("read view get list search find stat show cat open directory tree grep glob head tail describe query fetch exists info")

// changeVerbs anywhere in a tool's name say that it does more than read.
var changeVerbs = strings.Fields("write edit replace delete remove update create move rename insert append patch apply put save modify")

// removeVerbs and placeVerbs in a tool's name say that it removes a folder with all in it,
// or puts another one in its place.
var (
	removeVerbs = strings.Fields("delete remove move rename trash unlink rmdir")
	placeVerbs  = strings.Fields("copy extract unzip untar unpack clone link sync restore mount")
)

func memberName(name string) string { return strings.ToLower(withoutLines.Replace(name)) }

var withoutLines = strings.NewReplacer("_", "", "-", "")

func quotedJSON(text string) protocol.RawMessage {
	value, err := json.Marshal(text)
	if err != nil {
		return protocol.RawMessage(`""`)
	}
	return protocol.RawMessage(value)
}

// isObject reports whether a text is JSON with members or elements.
func isObject(text string) bool {
	text = strings.TrimSpace(text)
	return text != "" && (text[0] == '{' || text[0] == '[') && jsontext.Value(text).IsValid()
}

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

// judgePaths judges the member of a call that writes, if it names a file. Of a tool that is
// not known also a text that looks like a path counts.
func judgePaths(j *judge, tool, name string, value protocol.RawMessage, guess bool) {
	named := slices.Contains(pathMembers, name) || strings.HasSuffix(name, "path") || strings.HasSuffix(name, "file")
	u := useOf(tool)
	for _, text := range texts(value) {
		paths := []string{text}
		if named {
			paths = strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
		}
		if guess && len(text) < maxTagged {
			for _, match := range tagged().FindAllStringSubmatch(text, -1) {
				paths = append(paths, match[1])
			}
		}
		for i, path := range paths {
			if path = strings.TrimSpace(path); path == "" || len(path) > 4096 || strings.ContainsAny(path, "\n\x00") {
				continue
			}
			if !named && i == 0 && (!guess || slices.Contains(textMembers, name) || slices.Contains(commandMembers, name) || !looksLikePath(path)) {
				continue
			}
			judgePath(j, tool, path, u)
		}
	}
}

// tagged is a path in a text of the form <path>…</path>.
var tagged = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)<(?:path|file|file_path|filename|filepath)>\s*([^<\n]+?)\s*</`)
})

const maxTagged = 64 << 10

func looksLikePath(text string) bool {
	return strings.HasPrefix(text, ".") || strings.HasPrefix(text, "~/") || strings.Contains(text, "/")
}

// useOf is what a tool does with a path, by the tool's name.
func useOf(tool string) use {
	lower := strings.ToLower(tool)
	has := func(verb string) bool { return strings.Contains(lower, verb) }
	switch {
	case slices.ContainsFunc(removeVerbs, has):
		return removes
	case slices.ContainsFunc(placeVerbs, has):
		return replaces
	}
	return writes
}

// judgePath judges one path that a tool is given.
func judgePath(j *judge, tool, path string, u use) {
	if rest, is := strings.CutPrefix(path, "file://"); is {
		if at := strings.IndexByte(rest, '/'); at > 0 {
			rest = rest[at:] // a host
		}
		path = rest
		if decoded, err := url.PathUnescape(rest); err == nil {
			path = decoded
		}
	}
	for _, home := range []string{"~/", "$HOME/", "${HOME}/"} {
		if rest, is := strings.CutPrefix(path, home); is && j.options.Home != "" {
			path = j.options.Home + "/" + rest
		}
	}
	for _, at := range []string{path, strings.ReplaceAll(path, `\`, "/")} {
		place := j.usedEitherWay(j.dirs[0], at, u)
		if place == nil && u == removes { // also where it does not exist as yet
			place = j.usedEitherWay(j.dirs[0], at, becomes)
		}
		if place != nil {
			j.refuse("%s would change %s, %s", tool, quoted(path), describe(place))
			return
		}
	}
}

// onlyReads reports whether the args say that a file is only shown: each verb in them.
func onlyReads(j *judge, args protocol.RawMessage) bool {
	reads := false
	for _, m := range jsonspan.Members(args) {
		if !slices.Contains(verbMembers, memberName(m.Name)) || jsonspan.Kind(m.Value) != '"' {
			continue
		}
		if !slices.Contains(readVerbs, strings.ToLower(jsonspan.Text(m.Value))) {
			return false
		}
		reads = true
	}
	return reads
}

// readsOnly reports whether a tool that no table knows only reads: by its name, or by a
// verb in the args if the name says nothing else. What brings a text to write does not.
func readsOnly(j *judge, c *call) bool {
	byName := readsByName(c.Name)
	if !byName && !onlyReads(j, c.Args) || changes(c.Name) {
		return false
	}
	lower := strings.ToLower(c.Name)
	looks := slices.ContainsFunc([]string{"search", "find", "grep", "query"}, func(verb string) bool { return strings.Contains(lower, verb) })
	for _, m := range jsonspan.Members(c.Args) {
		name := memberName(m.Name)
		if slices.Contains(contentMembers, name) && !looks {
			return false
		}
		if (name == "flags" || name == "mode") && jsonspan.Kind(m.Value) == '"' && strings.Trim(jsonspan.Text(m.Value), "rwaxb+") == "" && strings.ContainsAny(jsonspan.Text(m.Value), "wax+") {
			return false
		}
	}
	return true
}

// changes reports whether the name of a tool says that it changes something.
func changes(name string) bool {
	if at := strings.LastIndex(name, "__"); at >= 0 {
		name = name[at+2:]
	}
	lower := strings.ToLower(name)
	return slices.ContainsFunc(changeVerbs, func(verb string) bool { return strings.Contains(lower, verb) })
}

// readsByName reports whether the name of a tool that no table knows says that it only
// reads: read_file, mcp__fs__listDirectory.
func readsByName(name string) bool {
	if changes(name) {
		return false
	}
	if at := strings.LastIndex(name, "__"); at >= 0 {
		name = name[at+2:]
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
	return slices.Contains(readVerbs, strings.ToLower(name[:end]))
}

// typesInto reports whether the name of a tool says that what it is given is typed into a
// shell.
func typesInto(tool string) bool {
	lower := strings.ToLower(tool)
	return slices.ContainsFunc(strings.Fields("terminal tty shell bash process tmux screen stdin console repl exec keys ssh command"), func(word string) bool { return strings.Contains(lower, word) })
}
