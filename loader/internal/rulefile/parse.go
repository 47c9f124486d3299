package rulefile

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/schema/document"
)

// Suffixes are what the name of a file of rules has after the pack's.
var Suffixes = []string{".rules.yaml", ".rules.json"}

// MaxSize bounds a file of rules, in bytes.
const MaxSize = 1 << 20

// maxRules bounds the rules of one file.
const maxRules = 1000

// PackOf returns the name of the pack that a file holds, "" if its name is not that of a
// file of rules.
func PackOf(file string) string {
	for _, suffix := range Suffixes {
		if name, is := strings.CutSuffix(filepath.Base(file), suffix); is {
			return name
		}
	}
	return ""
}

const form = "write rules: and below it a list: - { name: no-push, events: [tool-call-start], match: { command: git push * }, reply: { action: block, reason: … } }"

// Parse reads the rules of a file. A rule with a fault is among them. Where the file as a
// whole cannot be read, the one entry stands for guards that nobody knows.
func Parse(path string, content []byte) ([]schema.Described, []schema.Finding) {
	r := &reader{file: path}
	root, line, err := document.ParseFile(path, content)
	if err != nil {
		return r.unreadable(line, "the rules cannot be read: "+err.Error(), "correct the file, or remove it")
	}
	if root.Kind != document.Object {
		return r.unreadable(root.Line, "the file is "+root.Kind.String()+", not an object", form)
	}
	return r.rules(root)
}

// Unreadable returns what stands for a file of rules that cannot be read at all.
func Unreadable(path, why, remedy string) ([]schema.Described, []schema.Finding) {
	return (&reader{file: path}).unreadable(0, why, remedy)
}

type reader struct {
	file     string
	findings []schema.Finding
}

func (r *reader) add(line int, path, hook string, code schema.Code, message, remedy string) {
	r.findings = append(r.findings, schema.NewFinding(schema.Pos{File: r.file, Line: line, Path: path}, hook, schema.SeverityError, code, message, remedy))
}

func (r *reader) unreadable(line int, why, remedy string) ([]schema.Described, []schema.Finding) {
	r.findings = append(r.findings, report.New(report.BadRules, r.file, line, "", why, remedy))
	return []schema.Described{r.unknown(line, filepath.Base(r.file))}, r.findings
}

// unknown returns the description of a guard of which nothing can be read.
func (r *reader) unknown(line int, path string) schema.Described {
	d, _ := schema.DecodeEntry(&document.Node{Kind: document.Null, Line: line}, schema.FromSettings, schema.Pos{File: r.file, Line: line, Path: path}, "")
	return d
}

func (r *reader) rules(root *document.Node) (rules []schema.Described, _ []schema.Finding) {
	var list *document.Node
	for _, m := range root.Members {
		switch {
		case m.Key == "rules" && list == nil:
			list = m.Value
		case m.Key == "$schema":
		case m.Key == "rules":
			r.add(m.Line, "rules", "", schema.CodeDuplicateKey, "the key rules is here twice", "keep one of them")
			rules = append(rules, r.unknown(m.Line, filepath.Base(r.file)))
		default: // it may be rules, misspelt
			remedy := "the keys here are rules and $schema"
			if near := text.Nearest(m.Key, []string{"rules"}); near != "" {
				remedy = `did you mean "rules"?`
			}
			r.add(m.Line, "", "", schema.CodeUnknownKey, fmt.Sprintf("there is no key %q here", text.Shorten(m.Key, 60)), remedy)
			rules = append(rules, r.unknown(m.Line, filepath.Base(r.file)))
		}
	}
	switch {
	case list == nil && len(rules) == 0:
		return r.unreadable(root.Line, "the file has no rules", form)
	case list == nil:
		return rules, r.findings
	case list.Kind != document.List:
		return r.unreadable(list.Line, "rules is "+list.Kind.String()+", not a list", form)
	case len(list.Items) > maxRules:
		return r.unreadable(list.Line, fmt.Sprintf("the file has %d rules", len(list.Items)), fmt.Sprintf("write at most %d", maxRules))
	}
	seen := map[string]int{}
	for i, item := range list.Items {
		rules = append(rules, r.rule(item, fmt.Sprintf("rules[%d]", i), seen))
	}
	return rules, r.findings
}

// rule reads one rule. A name that is there twice belongs to neither: the second may
// refuse more than the first.
func (r *reader) rule(n *document.Node, path string, seen map[string]int) schema.Described {
	d, findings := schema.DecodeEntry(n, schema.FromSettings, schema.Pos{File: r.file, Line: n.Line, Path: path}, "")
	r.findings = append(r.findings, findings...)
	if d.Name == nil || slices.Contains(d.Faults, "name") {
		return d
	}
	name := *d.Name
	if line, twice := seen[name]; twice {
		r.add(n.Line, path+".name", name, schema.CodeDuplicateName, fmt.Sprintf("%s is a rule already, in line %d", name, line), "give this one another name")
		return r.unknown(n.Line, path)
	}
	seen[name] = n.Line
	if d.Reply == nil && !slices.Contains(d.Faults, "reply") || d.Command != nil {
		r.add(n.Line, path, name, schema.CodeConflict, name+" is no rule: a file of rules holds hooks that carry their reply", "write reply: { action: block, reason: … }; a program is a file of its own, or an entry of hooks.use in the settings")
		return r.unknown(n.Line, path)
	}
	return d
}
