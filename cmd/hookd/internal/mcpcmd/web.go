package mcpcmd

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor/mcphttp"
	"github.com/hookd-dev/hookd/executor/proxied"
)

// webServer is a server that is reached by an address.
type webServer struct{ process *proxied.Process }

// reach returns the server at an address. lines are headers as the command line has them, own the
// variables that only the server has.
func reach(address string, lines, own []string, note func(string)) (*webServer, error) {
	address, missing := withVariables(address, own)
	if missing != "" {
		return nil, notSet("--url", missing)
	}
	headers := http.Header{}
	for _, line := range lines {
		name, value, found := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); !found || name == "" {
			return nil, cli.Usage("bad-header", fmt.Sprintf("--header %s is no header", show.Line(name)), `write it as 'NAME: VALUE', such as 'Authorization: Bearer ${TOKEN}'`)
		}
		value, missing := withVariables(strings.TrimSpace(value), own)
		if missing != "" {
			return nil, notSet("--header "+show.Line(name), missing)
		}
		if err := mcphttp.CheckHeader(name, value); err != nil {
			return nil, cli.Usage("bad-header", fmt.Sprintf("--header %s: %v", show.Line(name), err), "leave it out, or correct it: a header such as 'Authorization: Bearer ${TOKEN}' goes with every message")
		}
		headers.Add(name, value)
	}
	process, err := mcphttp.Start(mcphttp.Options{URL: address, Headers: headers, Note: note})
	if err != nil {
		return nil, cli.Usage("bad-url", "--url: "+err.Error(), "write an address such as https://example.org/mcp")
	}
	return &webServer{process}, nil
}

func notSet(where, variable string) error {
	return cli.Usage("no-variable", fmt.Sprintf("%s names ${%s}, which is not set", where, variable), "set it where your agent starts hookd: env of this server in its settings")
}

func (w *webServer) Process() *proxied.Process { return w.process }

// Flush does nothing: such a server has no stderr.
func (w *webServer) Flush() {}

// Failure says that the server has ended the connection.
func (w *webServer) Failure() error {
	if how := w.process.How(); how != "" {
		return cli.Failed("server", fmt.Errorf("the connection to the MCP server has ended: %s", how), "")
	}
	return nil
}

var variable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$?\$\{([A-Za-z_][A-Za-z0-9_]*)\}`) })

// withVariables replaces ${NAME} by the variable of that name, the server's own or else ours;
// $${NAME} is ${NAME}. missing is the first that is not set.
func withVariables(text string, own []string) (replaced, missing string) {
	replaced = variable().ReplaceAllStringFunc(text, func(found string) string {
		if strings.HasPrefix(found, "$$") {
			return found[1:]
		}
		name := found[2 : len(found)-1]
		value, set := lookUp(name, own)
		if !set && missing == "" {
			missing = name
		}
		return value
	})
	return replaced, missing
}

func lookUp(name string, own []string) (value string, set bool) {
	for _, v := range own {
		if value, is := strings.CutPrefix(v, name+"="); is {
			return value, true
		}
	}
	return os.LookupEnv(name)
}

// nameOfURL returns what a server is called of which only the address is known: the part of
// its host that tells it from others.
func nameOfURL(address string) string {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Hostname() == "" {
		return "server"
	}
	host := parsed.Hostname()
	if net.ParseIP(host) != nil {
		return "server"
	}
	labels := strings.Split(host, ".")
	for len(labels) > 1 && slices.Contains([]string{"mcp", "api", "www", "server"}, labels[0]) {
		labels = labels[1:]
	}
	return labels[0]
}
