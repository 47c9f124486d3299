package schema

import (
	"fmt"
	"strings"
)

// Severity says whether a finding keeps something from working.
type Severity string

const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Finding is one problem in what a person wrote: where it is, what is wrong and
// what to do about it.
type Finding struct {
	Severity Severity `json:"severity"`
	Code     string   `json:"code"` // kebab-case, stable
	File     string   `json:"file"` // absolute path
	Line     *int     `json:"line"` // 1-based
	Path     *string  `json:"path"` // key path in a settings file, hooks.use[1].timeout
	Hook     *string  `json:"hook"`
	Message  string   `json:"message"`
	Remedy   string   `json:"remedy"`
}

// String writes a finding on one line: severity code file:line path (hook):
// message -> remedy.
func (f Finding) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s", f.Severity, f.Code, f.File)
	if f.Line != nil {
		fmt.Fprintf(&b, ":%d", *f.Line)
	}
	if f.Path != nil {
		fmt.Fprintf(&b, " %s", *f.Path)
	}
	if f.Hook != nil {
		fmt.Fprintf(&b, " (%s)", *f.Hook)
	}
	return fmt.Sprintf("%s: %s -> %s", b.String(), f.Message, f.Remedy)
}
