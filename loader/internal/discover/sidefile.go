package discover

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/hookd-dev/hookd/loader/internal/candidate"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/schema/document"
)

// SideFiles are the endings a side file may have, the format read of each.
var SideFiles = []struct {
	Suffix string
	format document.Format
}{
	{".hook.json", document.JSON},
	{".hook.yaml", document.YAML},
}

// maxSideFile bounds a side file, in bytes.
const maxSideFile = 64 << 10

// describeHeader reads what a file says of itself in its comment header. ok is
// false if it says nothing.
func describeHeader(path, hook string, c *files.Head) (d schema.Described, findings []schema.Finding, ok bool) {
	h := parseHeader(c.Bytes, !c.Long)
	if h.late > 0 {
		findings = append(findings, report.New(report.LateHeader, path, h.late, hook,
			fmt.Sprintf("this hook: line is not read: only the first %d lines are", headerLines), "move it up"))
	}
	if !h.described() && h.misspelt != "" {
		findings = append(findings, schema.NewFinding(schema.Pos{File: path, Line: h.misspeltLine}, hook, schema.SeverityWarning, schema.CodeUnknownKey,
			fmt.Sprintf("the line %q is not read: it does not begin with hook:", h.misspelt+": …"), `did you mean "hook:"?`))
	}
	if !h.described() {
		return d, findings, false
	}
	d, found := schema.EntryFromPairs(path, hook, h.pairs)
	findings = append(findings, found...)
	for _, fault := range h.faults {
		findings = append(findings, report.New(report.BadHeader, path, fault.Line, hook, fault.Message,
			`write pairs such as: hook: events=tool-call-start match.tool=bash can=block; put a value with blanks in double quotes`))
		d.Faults = append(d.Faults, faultField(fault.Key))
	}
	return d, findings, true
}

// faultField names the field that a faulty pair was about, as far as it is
// known.
func faultField(key string) string {
	if key == "" {
		return "header"
	}
	field, _, _ := strings.Cut(key, ".")
	return field
}

// DescribeSideFile reads the side file of a hook.
// member is its name in the hooks folder, "" if there is none. leadsOut is
// [candidate.Scope.LeadsOut] of the hook's scope.
func DescribeSideFile(path, hook string, leadsOut func(file string) string) (d schema.Described, member string, findings []schema.Finding) {
	for _, side := range SideFiles {
		file := path + side.Suffix
		real := leadsOut(file)
		var text []byte
		var err error
		if real == "" {
			text, err = files.ReadSmall(file, maxSideFile)
		}
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if member != "" {
			d.Faults = append(d.Faults, "side-file")
			return d, member, append(findings, report.New(report.TwoSideFiles, file, 0, hook,
				"the hook has two side files", "keep one of "+path+".hook.json and "+path+".hook.yaml"))
		}
		member = filepath.Base(path) + side.Suffix
		if real != "" {
			d = unreadableDescription(schema.FromSideFile, file, hook)
			findings = append(findings, report.New(report.BadSideFile, file, 0, hook, "the side file does not count: "+candidate.LinkOut+real, candidate.LinkOutRemedy))
			continue
		}
		var node *document.Node
		if err == nil {
			node, err = document.Parse(side.format, text)
		}
		if err != nil {
			line := 0
			if syntax := new(document.SyntaxError); errors.As(err, &syntax) {
				line = syntax.Line
			}
			d = unreadableDescription(schema.FromSideFile, file, hook)
			findings = append(findings, report.New(report.BadSideFile, file, line, hook, "the side file cannot be read: "+err.Error(), "correct or remove it"))
			continue
		}
		var found []schema.Finding
		d, found = schema.DecodeEntry(node, schema.FromSideFile, schema.Pos{File: file}, hook)
		findings = append(findings, found...)
	}
	return d, member, findings
}

// unreadableDescription returns the description for a file that could say anything.
func unreadableDescription(source schema.Source, file, hook string) schema.Described {
	d, _ := schema.DecodeEntry(&document.Node{Kind: document.Null}, source, schema.Pos{File: file}, hook)
	return d
}
