package selfprotect

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/protect"
	"github.com/hookd-dev/hookd/internal/shellwords"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/toolname"
)

// call judges a call by what its tool does to the world.
func (j *judge) call(c *call) {
	if jsonspan.Kind(c.Args) != '{' {
		return
	}
	kind := c.Kind
	if len(c.MayBe) > 0 {
		kind = protocol.KindOther
	}
	switch kind {
	case protocol.KindRead, protocol.KindAgent:
	case protocol.KindShell:
		enterNamed(j, c.Args)
		j.members(c.Args, false, func(name string, value protocol.RawMessage) {
			if slices.Contains(commandMembers, name) {
				j.commands(c.Name, value)
			}
		})
		judgePrograms(j, c.Args)
	case protocol.KindWrite:
		if _, known := toolname.Kind(c.Name); !known && onlyReads(j, c.Args) {
			return
		}
		j.members(c.Args, false, func(name string, value protocol.RawMessage) {
			judgePaths(j, c.Name, name, value, false)
			if slices.Contains(patchMembers, name) && (name != "content" || strings.Contains(strings.ToLower(c.Name), "patch")) {
				j.patch(jsonspan.Text(value))
			}
		})
		judgeStartFile(j, c.Args)
	default:
		judgeUnknownTool(j, c)
	}
}

// judgeUnknownTool judges a call of a tool that may do anything.
func judgeUnknownTool(j *judge, c *call) {
	enterNamed(j, c.Args)
	reads := readsOnly(j, c)
	j.members(c.Args, true, func(name string, value protocol.RawMessage) {
		switch {
		case slices.Contains(commandMembers, name):
			j.commands(c.Name, value)
		case slices.Contains(typedMembers, name) && typesInto(c.Name):
			for _, text := range texts(value) {
				j.line(strings.NewReplacer("{enter}", "\n", "<enter>", "\n", `\n`, "\n", "\r", "\n").Replace(text))
			}
		}
		if reads {
			return
		}
		if slices.Contains(codeMembers, name) && jsonspan.Kind(value) == '"' {
			j.code(c.Name, jsonspan.Text(value))
		}
		judgePaths(j, c.Name, name, value, true)
		if slices.Contains(patchMembers, name) {
			j.patch(jsonspan.Text(value))
		}
	})
	judgePrograms(j, c.Args)
	judgeKilling(j, c)
	if !reads {
		judgeStartFile(j, c.Args)
	}
}

// Bounds of a call's args that are looked at.
const (
	maxMembers = 5000
	maxLevels  = 10
)

// members calls visit with each member of an object that is a text or a list of texts,
// at any depth. Of a tool that is not known (guess), the names of members may be paths,
// and a text may be more args.
func (j *judge) members(object protocol.RawMessage, guess bool, visit func(name string, value protocol.RawMessage)) {
	left := maxMembers
	var walk func(name string, value protocol.RawMessage, depth int)
	walk = func(name string, value protocol.RawMessage, depth int) {
		if left--; left < 0 || depth > maxLevels {
			return
		}
		switch jsonspan.Kind(value) {
		case '{':
			for _, m := range jsonspan.Members(value) {
				if guess && strings.ContainsAny(m.Name, "./") {
					visit("path", quotedJSON(m.Name))
				}
				walk(memberName(m.Name), m.Value, depth+1)
			}
		case '[':
			visit(name, value)
			for _, element := range jsonspan.Elements(value) {
				if kind := jsonspan.Kind(element); kind == '{' || kind == '[' {
					walk(name, element, depth+1)
				}
			}
		case '"':
			visit(name, value)
			if text := jsonspan.Text(value); guess && slices.Contains(argsMembers, name) && isObject(text) {
				walk(name, protocol.RawMessage(text), depth+1)
			}
		}
	}
	walk("", object, 0)
	if left < 0 {
		j.doubt("the call has too many args to look for hook settings in them")
	}
}

// enterNamed takes the working directory that a call names.
func enterNamed(j *judge, args protocol.RawMessage) {
	for _, m := range jsonspan.Members(args) {
		if slices.Contains(dirMembers, memberName(m.Name)) && jsonspan.Kind(m.Value) == '"' && jsonspan.Text(m.Value) != "" {
			j.enter(plainPattern(jsonspan.Text(m.Value)))
		}
	}
}

// commands judges a shell line, a list of them, or the words of one: a list is taken for
// both.
func (j *judge) commands(tool string, value protocol.RawMessage) {
	list := texts(value)
	if jsonspan.Kind(value) == '[' && len(list) > 0 {
		words := make([]string, len(list))
		for i, word := range list {
			words[i] = quotedWord(word)
		}
		j.line(strings.Join(words, " "))
		list = slices.DeleteFunc(list, func(line string) bool { return !strings.ContainsAny(line, " \t\n;") })
	}
	lower := strings.ToLower(tool)
	windows := strings.Contains(lower, "powershell") || strings.Contains(lower, "pwsh")
	for _, line := range list {
		j.line(line)
		if windows { // whose paths have backslashes, and whose lines are no bash
			j.line(strings.ReplaceAll(line, `\`, "/"))
			j.code(line, strings.ReplaceAll(line, `\`, "/"))
		}
	}
}

// judgePrograms judges a program and its words in members of their own.
func judgePrograms(j *judge, args protocol.RawMessage) {
	var program string
	var words []string
	for _, m := range jsonspan.Members(args) {
		switch name := memberName(m.Name); {
		case slices.Contains(programMembers, name) && jsonspan.Kind(m.Value) == '"':
			program = jsonspan.Text(m.Value)
		case slices.Contains(wordMembers, name):
			if words = texts(m.Value); jsonspan.Kind(m.Value) == '[' {
				for i := range words {
					words[i] = quotedWord(words[i])
				}
			}
		}
	}
	if program != "" && len(words) > 0 {
		j.line(program + " " + strings.Join(words, " "))
	}
}

// judgeKilling judges a tool that ends processes, by a number or a name.
func judgeKilling(j *judge, c *call) {
	lower := strings.ToLower(c.Name)
	if !slices.ContainsFunc([]string{"kill", "signal", "terminate", "stop"}, func(verb string) bool { return strings.Contains(lower, verb) }) {
		return
	}
	for _, m := range jsonspan.Members(c.Args) {
		value := strings.Trim(string(m.Value), `" `)
		if strings.Contains(memberName(m.Name), "pid") || strings.Contains(memberName(m.Name), "process") || memberName(m.Name) == "name" {
			j.process(&shellwords.Command{Text: c.Name}, value)
			if strings.HasPrefix(value, "hookd") {
				j.refuse("%s ends hookd", c.Name)
			}
		}
	}
}

// judgeStartFile judges what is written into a file that the next shell runs.
func judgeStartFile(j *judge, args protocol.RawMessage) {
	starts := false
	j.members(args, true, func(name string, value protocol.RawMessage) {
		if slices.Contains(pathMembers, name) || strings.HasSuffix(name, "path") {
			starts = starts || slices.ContainsFunc(texts(value), isStartFile)
		}
	})
	if !starts {
		return
	}
	j.members(args, true, func(name string, value protocol.RawMessage) {
		if slices.Contains(contentMembers, name) {
			for _, text := range texts(value) {
				j.line(text)
			}
		}
	})
}

var patchHeaders = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*\*\*\*\s+(?:Add File|Update File|Delete File|Move to):\s*(.+)$|^(?:\+\+\+|---|rename to|rename from|copy to|copy from) +(.+)$|^diff --git (.+)$`)
})

// patch judges the files that a patch changes: one of Codex's form, or a diff.
func (j *judge) patch(text string) {
	for line := range strings.Lines(text) {
		match := patchHeaders().FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if match == nil {
			continue
		}
		header, _, _ := strings.Cut(strings.TrimSpace(match[1]+match[2]), "\t")
		paths := []string{header, cutDiffPrefix(header)}
		for _, word := range strings.Fields(match[3]) {
			paths = append(paths, word, cutDiffPrefix(word))
		}
		for _, at := range paths {
			if place := j.patched(strings.Trim(at, `"`)); at != "" && place != nil {
				j.refuse("the patch would change %s, %s", quoted(at), describe(place))
				break
			}
		}
	}
}

// patched returns the place that a patch of a file would change.
func (j *judge) patched(name string) *protect.Place {
	for _, path := range eitherWay(j.dirs[0], name) {
		if place := j.scope.Write(path); place != nil {
			return place
		}
	}
	return nil
}

// cutDiffPrefix takes a/ or b/ away.
func cutDiffPrefix(path string) string {
	if strings.HasPrefix(path, "a/") || strings.HasPrefix(path, "b/") {
		return path[2:]
	}
	return path
}
