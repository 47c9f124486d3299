package discover

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/schema"
)

// reference is what stands for a variable of hookd's own environment in the
// settings of an MCP server: ${NAME} or ${NAME:-default}. A second $ before it
// keeps it as it is written, without that $, for a program that knows variables
// itself. Anything else with a $ is plain text.
var reference = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$?\$\{([A-Za-z_][A-Za-z0-9_]*)(:-[^}]*)?\}`) })

// withVariables returns a server with the variables of its args, env, url and
// headers in their places, or why it cannot be started; one that is not set is
// left as it is written, so that what is asked to be trusted does not depend on
// it. What a person is asked to
// trust, and what its hash covers, is the text as written; the command is not
// looked at, so that what runs stands in the settings. A value that comes in
// this way is not looked at again.
func withVariables(s schema.MCPServer, lookup func(string) (string, bool)) (schema.MCPServer, *report.Problem) {
	v := variables{lookup: lookup}
	s.Args = slices.Clone(s.Args)
	for i, arg := range s.Args {
		s.Args[i] = v.fill(fmt.Sprintf("args[%d]", i), arg)
	}
	s.URL = v.fill("url", s.URL)
	s.Env, s.Headers = v.fillAll("env", s.Env), v.fillAll("headers", s.Headers)
	if v.missing == "" {
		return s, nil
	}
	if v.missing == projectVariable {
		return s, &report.Problem{
			Why: v.where + " names ${project}, and nobody allowed anything of this project", Remedy: "allow the project with hookd trust, or write the folder itself",
		}
	}
	return s, &report.Problem{
		Why:    fmt.Sprintf("%s names ${%s}, which is not set in the environment of hookd", v.where, v.missing),
		Remedy: fmt.Sprintf("set %s before hookd starts, write ${%s:-default}, or $${%s} for the text itself", v.missing, v.missing, v.missing),
	}
}

// variables remembers the first that is not set.
type variables struct {
	lookup         func(string) (string, bool)
	where, missing string
}

func (v *variables) fillAll(member string, texts map[string]string) map[string]string {
	texts = maps.Clone(texts)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		texts[name] = v.fill(member+"."+name, texts[name])
	}
	return texts
}

// fill puts values in the place of references. As in a shell, a default also
// counts for a variable that is set and empty.
func (v *variables) fill(where, text string) string {
	return reference().ReplaceAllStringFunc(text, func(written string) string {
		if strings.HasPrefix(written, "$$") {
			return written[1:]
		}
		parts := reference().FindStringSubmatch(written)
		name, rest := parts[1], parts[2]
		value, set := v.lookup(name)
		switch {
		case rest != "" && value == "":
			return rest[len(":-"):]
		case !set && v.missing == "":
			v.where, v.missing = where, name
		}
		if !set {
			return written
		}
		return value
	})
}
