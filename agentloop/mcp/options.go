package mcp

import (
	"cmp"
	"context"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	words "github.com/hookd-dev/hookd/internal/text"
)

// Server is one server as the settings name it: a program, or an address.
type Server struct {
	Name string
	Type string // stdio http sse; empty: stdio with a Command, http with a URL

	Command string
	Args    []string
	Dir     string            // working directory, absolute
	Environ []string          // what the program gets besides Env
	Env     map[string]string // as the settings say

	URL     string
	Headers map[string]string // sent with every request, to this address only
}

// environment returns the whole environment of the server's program.
func (s *Server) environment() []string {
	env := slices.Clone(s.Environ)
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		env = slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, name+"=") })
		env = append(env, name+"="+s.Env[name])
	}
	return env
}

// secretName is in the names of variables that hold what nobody else may read.
var secretName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)key|token|secret|passw|pwd|auth|credential|cookie|bearer`)
})

// withoutSecrets returns what a server said of itself without the keys that it was given: it goes
// to the screen, the record and the model. A server that fails often prints its settings.
func (s *Server) withoutSecrets(said string) string {
	var secrets []string
	for _, value := range s.Headers {
		secrets = append(secrets, value)
	}
	for name, value := range s.Env {
		if secretName().MatchString(name) {
			secrets = append(secrets, value)
		}
	}
	for _, variable := range s.Environ {
		if name, value, _ := strings.Cut(variable, "="); secretName().MatchString(name) {
			secrets = append(secrets, value)
		}
	}
	if address, err := url.Parse(s.URL); err == nil {
		for _, values := range address.Query() {
			secrets = append(secrets, values...)
		}
	}
	return words.Hide(said, secrets)
}

// Options are what all servers share. The zero value is useful, but starts no program.
type Options struct {
	Project string   // absolute path, told to the servers as the first root; "": none
	Also    []string // absolute paths of other folders, told as roots after it

	// Start starts the program of a stdio server. nil: such servers fail.
	Start func(ctx context.Context, p Program) (*Process, error)

	Web http.RoundTripper // nil: a connection pool of our own; the proxies of the environment count

	// Notify is told what a person should know, one call at a time. It must not
	// call Close. nil: nobody is told.
	Notify func(Notice)

	StartLimit time.Duration // from the start of a server to its list of tools; default 30 s
	Pause      time.Duration // before the second attempt to start a server; doubles up to 30 s; default 1 s
	ProbeLimit time.Duration // how long a stdio server may be silent on the newest revision's first question; default 3 s
	Message    int           // bytes of one message of a server; default 32 MiB
	Text       int           // bytes of text of one result that the model reads; default 100 KiB
}

// The life of a server that fails.
const (
	attempts = 5                      // failures in a row, then it is given up
	maxPause = 30 * time.Second       // between two attempts
	steady   = time.Minute            // of life, after which earlier failures are forgotten
	patience = 500 * time.Millisecond // for an end that a server is asked for
)

func (o *Options) complete() {
	o.StartLimit = cmp.Or(o.StartLimit, 30*time.Second)
	o.Pause = cmp.Or(o.Pause, time.Second)
	o.ProbeLimit = cmp.Or(o.ProbeLimit, 3*time.Second)
	o.Message = cmp.Or(o.Message, 32<<20)
	o.Text = cmp.Or(o.Text, 100<<10)
	if o.Notify == nil {
		o.Notify = func(Notice) {}
	}
}

// Notice is something about a server that a person should know.
type Notice struct {
	Server string
	Text   string // begins with what the server did or what became of it
	Remedy string // what to do about it, "" if nothing is known

	atEnd bool // it is news also when the servers are being ended
}

// Program is what a stdio server is started with.
type Program struct {
	Server string
	Argv   []string
	Dir    string
	Env    []string // the whole environment
}

// Process is a running program. [Options].Start must make sure that it does not outlive
// this process.
type Process struct {
	In   io.WriteCloser // its stdin
	Out  io.ReadCloser  // its stdout
	Done <-chan struct{}

	// End closes In, gives it the time to exit, ends its whole tree, and closes
	// Out. It may be called again.
	End func(patience time.Duration) Ending
}

// Ending is how a program ended.
type Ending struct {
	Text   string // such as "exit code 1"
	Stderr string // the end of it
	Left   string // the processes that it left running, which were ended: "1 process (sleep)"; "" if none
}
