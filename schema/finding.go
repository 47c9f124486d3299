package schema

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
