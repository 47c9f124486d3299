package loader

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/imports"
	"github.com/hookd-dev/hookd/loader/internal/interpreter"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/foreignhooks"
	"github.com/hookd-dev/hookd/protocol/patterns"
	"github.com/hookd-dev/hookd/protocol/toolname"
	"github.com/hookd-dev/hookd/schema"
)

// Advice reads the hooks of a snapshot for what will not work where they start and
// with what they bring along. It looks at their texts, so that it may be wrong; it
// is for check, and nothing depends on it.
func Advice(s *Snapshot) []schema.Finding {
	var findings []schema.Finding
	for i := range s.Hooks {
		h := &s.Hooks[i]
		if finding := speaksOtherwise(h); finding != nil {
			findings = append(findings, *finding)
		}
		if h.Status != executor.Ready && h.Status != executor.Untrusted && h.Status != executor.Changed {
			continue
		}
		a := advice{hook: h, project: s.Project, text: codeOf(h.Path)}
		if h.Layer == protocol.Project {
			a.imports()
		} else if h.Layer == protocol.User || h.Layer == protocol.Managed {
			a.whereItStarts()
		}
		a.undecided()
		findings = append(findings, a.findings...)
	}
	return findings
}

// An Importable is an agent whose hooks the setting hooks.import could take.
type Importable struct {
	Agent, Title string
	File         string // the settings file, below the project's root
}

// Importables returns the agents for which a project has hooks. It is for a hint: nothing
// of them counts by it.
func Importables(project string) (list []Importable) {
	for _, a := range imports.Agents {
		if file := a.Present(imports.OfProject, project); file != "" {
			list = append(list, Importable{a.Name, a.Title, file})
		}
	}
	return list
}

// advice is about one hook.
type advice struct {
	hook     *Info
	project  string
	text     string
	findings []schema.Finding
}

// maxAdvised is how much of a hook's text is looked at.
const maxAdvised = 256 << 10

// codeOf is the text of a script without lines that are only a comment, "" of
// anything else.
func codeOf(file string) string {
	f, st, err := files.OpenRegular(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := files.ReadSized(f, min(st.Size, maxAdvised))
	if err != nil || !strings.HasPrefix(string(text), "#!") {
		return ""
	}
	lines := strings.Split(string(text), "\n")
	first := lines[0]
	lines = slices.DeleteFunc(lines, func(line string) bool {
		line = strings.TrimSpace(line)
		return strings.HasPrefix(line, "#") || strings.HasPrefix(line, "//")
	})
	return first + "\n" + strings.Join(lines, "\n")
}

// Compiled when they are first wanted: few commands give advice.
var (
	callsGit     = lazyRegexp("(?m)(^|[\\s;&|(`\"'\\[,])git(\\s+[a-z-]|[\"'],)")
	relativePath = lazyRegexp(`(?m)(^|[\s"'=(])\.{1,2}/[\w.-]`)
	knowsProject = lazyRegexp(`HOOK_PROJECT_DIR|["']project["']|["']cwd["']|\.(project|cwd)\b|git -C`)
)

func lazyRegexp(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// whereItStarts names a hook of user or machine that seems to take the project for
// its working directory, where it does not start.
func (a *advice) whereItStarts() {
	h := a.hook
	if h.InProject {
		return
	}
	why := ""
	for i, word := range h.Command {
		_, value := interpreter.OptionPath(word)
		_, missing := os.Stat(filepath.Join(filepath.Dir(filepath.Dir(h.Path)), value))
		switch {
		case i == 0 && filepath.Base(word) == "git", i > 0 && word == "git":
			why = "it calls git"
		case i > 0 && strings.Contains(value, "/") && !filepath.IsAbs(value) && !strings.HasPrefix(value, "-") && !strings.Contains(value, "://") && !strings.HasPrefix(value, "@") && missing != nil:
			why = fmt.Sprintf("its argument %q is a relative path", word)
		}
	}
	if why == "" && !knowsProject().MatchString(a.text) {
		_, body, _ := strings.Cut(a.text, "\n")
		switch {
		case callsGit().MatchString(body):
			why = "it calls git"
		case relativePath().MatchString(body):
			why = "it uses a relative path"
		}
	}
	if why != "" {
		a.findings = append(a.findings, report.New(report.StartsElsewhere, h.Path, 0, h.Name,
			why+", and it starts in an empty folder, not in the project", "use HOOK_PROJECT_DIR (git -C \"$HOOK_PROJECT_DIR\"), or write dir=project"))
	}
}

// undecided names what a guard's condition reads and calls of a tool that it is asked
// about need not have.
func (a *advice) undecided() {
	h := a.hook
	atTools := slices.ContainsFunc(h.Events, func(name protocol.EventName) bool {
		spec := protocol.Lookup(name)
		return spec != nil && spec.Tool
	})
	if h.Match.When == "" || !atTools || h.Can == protocol.CanObserve && !h.Required {
		return
	}
	for _, member := range executor.ArgsRead(h.Match.When) {
		tools := toolname.WithoutArg(&h.Match, member)
		if len(tools) == 0 {
			continue
		}
		a.findings = append(a.findings, report.New(report.Undecided, h.Path, 0, h.Name,
			fmt.Sprintf("match.when reads data.args.%s, which calls of %s need not have: there the hook is asked whatever else the condition says", member, strings.Join(tools, ", ")),
			"name the tools in match.tool, or say that it may be missing: has(data.args."+member+"), or ?. before it"))
	}
}

// loads are the ways in which scripts load files, by the kind of their interpreter.
// The last group that is not empty is what is loaded.
var loads = map[interpreter.Kind][]func() *regexp.Regexp{
	interpreter.KindPython: {lazyRegexp(`(?m)^\s*import\s+([\w., \t]+)`), lazyRegexp(`(?m)^\s*from\s+([\w.]+)\s+import\b`)},
	interpreter.KindNode:   {lazyRegexp(`(?:require|import)\s*\(?\s*["'](\.{1,2}/[^"']+)["']`), lazyRegexp(`\bfrom\s*["'](\.{1,2}/[^"']+)["']`)},
	interpreter.KindRuby:   {lazyRegexp(`\brequire_relative\s*\(?\s*["']([^"']+)["']`)},
	interpreter.KindPerl:   {lazyRegexp(`\b(?:require|do)\s*\(?\s*["']\./([^"']+)["']`)},
	interpreter.KindShell:  {lazyRegexp(`(?m)(?:^|[;&|\s])(?:\.|source)\s+"?(?:\$\(dirname [^)]*\)|\$\{0%/\*\}|\$\{BASH_SOURCE[^}]*\}|\$[A-Za-z_]+)"?/([\w./-]+)`)},
}

// endings are what the name of a loaded file may lack.
var endings = map[interpreter.Kind][]string{
	interpreter.KindPython: {".py", "/__init__.py", ""}, interpreter.KindNode: append([]string{""}, append(bundle.ModuleEndings, "/index.js")...),
	interpreter.KindRuby: {".rb", ""}, interpreter.KindPerl: {""}, interpreter.KindShell: {""},
}

// imports names what a hook of the project loads from beside it, or from the
// project, and does not name in files: the private copy does not have it.
func (a *advice) imports() {
	h := a.hook
	if a.text == "" || h.InPlace || h.Path == "" {
		return
	}
	program, bad := interpreter.ReadProgram([]byte(a.text[:min(len(a.text), files.HeadLimit)]))
	if bad != nil {
		return
	}
	l, bad := program.Line()
	if bad != nil {
		return
	}
	of := interpreter.KindOf(l.Starter())
	if interpreter.KindOf(l.Starter()) == interpreter.KindOther {
		of = interpreter.KindNode // bun and deno import as node does
	}
	seen := map[string]bool{}
	for _, load := range loads[of] {
		for _, found := range load().FindAllStringSubmatch(a.text, -1) {
			for _, name := range strings.FieldsFunc(found[len(found)-1], func(c rune) bool { return c == ',' }) {
				if name = moduleName(of, name); name != "" && !seen[name] {
					seen[name] = true
					a.judgeImport(of, name)
				}
			}
		}
	}
}

// moduleName is the path that a module's name stands for.
func moduleName(of interpreter.Kind, name string) string {
	if of != interpreter.KindPython {
		return path.Clean(strings.TrimSpace(name))
	}
	name, _, _ = strings.Cut(strings.TrimSpace(name), " ") // import x as y
	top, _, _ := strings.Cut(strings.TrimLeft(name, "."), ".")
	return top
}

func (a *advice) judgeImport(of interpreter.Kind, name string) {
	h := a.hook
	folder := filepath.Dir(h.Path)
	for _, ending := range endings[of] {
		file := name + ending
		if files.IsRegular(filepath.Join(folder, filepath.FromSlash(file))) {
			if !slices.ContainsFunc(h.Files, func(pattern string) bool {
				if patterns.TooWide(pattern) {
					return true // said where it is read
				}
				ok, err := doublestar.Match(path.Clean(pattern), path.Clean(file))
				return ok && err == nil
			}) {
				a.findings = append(a.findings, report.New(report.ImportUnnamed, h.Path, 0, h.Name,
					fmt.Sprintf("it loads %s from beside it, which its files do not name: the private copy runs without", path.Clean(file)), "add files="+path.Clean(file)+" to its header, and allow it again"))
			}
			return
		}
	}
	if of != interpreter.KindPython || a.project == "" {
		return
	}
	for _, ending := range endings[of][:2] {
		if files.IsRegular(filepath.Join(a.project, name+ending)) {
			a.findings = append(a.findings, report.New(report.ImportUnnamed, h.Path, 0, h.Name,
				fmt.Sprintf("it imports %s, and the project has %s: hooks load no modules from there", name, name+ending), "put it beside the hook and name it in files"))
			return
		}
	}
}

// SpeaksOtherwise returns the finding about a hook file that plainly was written for
// another agent and does not say so, nil for any other. It looks at the file's text, so
// that it may be wrong; nothing depends on it.
func SpeaksOtherwise(file, hook string) *schema.Finding {
	text := codeOf(file)
	name, word := foreignhooks.Speaks(text)
	if name == "" {
		return nil
	}
	mark := "#"
	if first, _, _ := strings.Cut(text, "\n"); strings.Contains(first, "node") || strings.Contains(first, "deno") || strings.Contains(first, "bun") {
		mark = "//"
	}
	f := report.New(report.SpeaksOtherwise, file, 0, hook,
		fmt.Sprintf("it has the word %s, as hooks of %s do, and is asked in hookd's own protocol", strings.Trim(word, `"'\`), foreignhooks.Find(name).Title),
		fmt.Sprintf("if it was written for that agent, add the line: %s %s", mark, foreignhooks.HeaderFor(name, text)))
	return &f
}

// speaksOtherwise is the finding about a hook of a snapshot.
func speaksOtherwise(h *Info) *schema.Finding {
	if h.Path == "" || h.Dialect != foreignhooks.Own && h.Dialect != "" {
		return nil
	}
	return SpeaksOtherwise(h.Path, h.Name)
}
