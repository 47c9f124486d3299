package candidate

import (
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/interpreter"
	"github.com/hookd-dev/hookd/loader/internal/report"
)

// A File is one file of a hooks folder that may be a hook.
type File struct {
	Name    string
	Path    string // in the hooks folder
	Real    string // with symbolic links followed
	Head    *files.Head
	Program interpreter.Program
	Problem *report.Problem // why it cannot run, nil if it can
	Unsafe  string          // who else could change it where it lies, in words; "" if nobody
}
