package cli

// The exit codes of every command.
const (
	ExitOK          = 0
	ExitFailed      = 1
	ExitRefused     = 2
	ExitUsage       = 3 // Usage or settings
	ExitInterrupted = 130
)

// Fault is an error that ends a command: a stable code for programs, one line
// for people, and what to do about it.
type Fault struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint"`
	Exit    int    `json:"-"`
}

func (f *Fault) Error() string { return f.Message }

// Failed returns a fault of exit code 1.
func Failed(code string, err error, hint string) *Fault {
	return &Fault{Code: code, Message: err.Error(), Hint: hint, Exit: ExitFailed}
}

// Usage returns a fault of exit code 3: wrong arguments or settings.
func Usage(code, message, hint string) *Fault {
	return &Fault{Code: code, Message: message, Hint: hint, Exit: ExitUsage}
}

// NoAgent returns the fault of a command of the agent loop in the lean program, which lacks it.
func NoAgent(command string) *Fault {
	return Usage("no-agent", "this is hookd without the agent loop, it has no command "+command, "use the whole hookd: hookd "+command)
}

// ExitCode ends a command with a code after it has said everything itself.
type ExitCode int

func (ExitCode) Error() string { return "" }

// DataLossError says that something that was to be kept is lost.
type DataLossError struct{ Err error }

func (e DataLossError) Error() string { return e.Err.Error() }
func (e DataLossError) Unwrap() error { return e.Err }
