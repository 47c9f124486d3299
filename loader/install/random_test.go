package install

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/hookd-dev/hookd/loader/install/internal/configtext"
)

// writer writes random configuration files that look like those of people: with odd
// indentation, remarks, commas at ends, line ends of other systems, and hooks of others.
type writer struct {
	r        *rand.Rand
	agent    *Agent
	out      strings.Builder
	unit     string
	nl       string
	remarks  bool
	trailing bool
	compact  bool
}

// randomFile writes a file for an agent that keeps its hooks in one file of a format.
func randomFile(a *Agent, format configtext.Format, seed uint64) string {
	r := rand.New(rand.NewPCG(seed, uint64(len(a.Name))))
	w := &writer{r: r, agent: a, unit: pick(r, "  ", "    ", "\t", " ", "   ", "        "), nl: "\n"}
	if r.IntN(5) == 0 {
		w.nl = "\r\n"
	}
	switch format {
	case configtext.YAML:
		w.yaml()
	case configtext.TOML:
		w.toml()
	default:
		w.remarks, w.trailing, w.compact = r.IntN(3) == 0, r.IntN(4) == 0, r.IntN(8) == 0
		w.json()
	}
	text := w.out.String()
	if r.IntN(6) == 0 {
		text = strings.TrimSuffix(text, w.nl)
	}
	if r.IntN(8) == 0 {
		text = "\xef\xbb\xbf" + text
	}
	return text
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

var someNames = []string{"model", "permissions", "env", "$schema", "mcpServers", "theme", "statusLine", "Hooks", "hook", "hooks.PreToolUse", "outputStyle",
	"include Co-authored-by", "ключ", "tools", "security", "ui", "disableAllHooks2", "a\\u0062c", "with \\\"quotes\\\"", "{", "// no remark", ""}

var someScalars = []string{`"claude-opus"`, `true`, `false`, `null`, `0`, `-1.50e+3`, `1e400`, `12345678901234567890`, `"hookd bridge claude PreToolUse"`, `"a // b"`,
	`"/* c */"`, `"\u00e9\t\\"`, `"\ud83d\ude00"`, `"日本"`, `""`, `"{\"hooks\": []}"`, `"C:\\Users\\me"`}

func (w *writer) json() {
	w.remark("")
	var names []string
	for range w.r.IntN(6) {
		names = append(names, pick(w.r, someNames...))
	}
	names = append(names, "sentinel")
	hooks := w.r.IntN(3)
	if hooks > 0 {
		names = append(names, "hooks")
	}
	if len(w.agent.layout.root) > 0 && w.r.IntN(3) > 0 {
		names = append(names, w.agent.layout.root[0].name)
	}
	w.r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	seen := map[string]bool{}
	names = filter(names, func(n string) bool { first := !seen[n]; seen[n] = true; return first })
	w.object(0, names, func(name string, depth int) {
		switch {
		case name == "sentinel":
			w.out.WriteString(`"here"`)
		case name == "hooks" && hooks == 1 && w.agent.layout.style == listed:
			w.empty("[", "]", depth)
		case name == "hooks" && hooks == 1:
			w.empty("{", "}", depth)
		case name == "hooks":
			w.hooks(depth)
		case len(w.agent.layout.root) > 0 && name == w.agent.layout.root[0].name:
			fmt.Fprintf(&w.out, "%#v", w.agent.layout.root[0].value)
		default:
			w.value(depth)
		}
	})
	w.out.WriteString(w.nl)
	w.remark("")
}

func filter(names []string, keep func(string) bool) (kept []string) {
	for _, n := range names {
		if keep(n) {
			kept = append(kept, n)
		}
	}
	return kept
}

// hooks writes hooks of others in the agent's own arrangement.
func (w *writer) hooks(depth int) {
	if w.agent.layout.style == listed {
		w.list(depth, w.r.IntN(3), func(depth int) {
			w.object(depth, []string{"name", "trigger", "action"}, func(name string, depth int) {
				if name == "action" {
					w.object(depth, []string{"type", "command"}, func(string, int) { w.out.WriteString(`"x"`) })
					return
				}
				w.out.WriteString(`"PreToolUse"`)
			})
		})
		return
	}
	events := []string{"SomethingElse"}
	for _, row := range w.agent.Dialect.Rows {
		if w.r.IntN(3) == 0 {
			events = append(events, row.Name)
		}
	}
	w.r.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
	w.object(depth, events, func(_ string, depth int) {
		n := w.r.IntN(3)
		if n == 0 {
			w.empty("[", "]", depth)
			return
		}
		w.list(depth, n, func(depth int) {
			if w.agent.layout.style != groups {
				w.handler(depth)
				return
			}
			w.object(depth, []string{"matcher", "hooks"}, func(name string, depth int) {
				if name == "matcher" {
					w.out.WriteString(pick(w.r, `"Bash"`, `"*"`, `""`, `"Edit|Write"`))
					return
				}
				w.list(depth, 1+w.r.IntN(2), w.handler)
			})
		})
	})
}

func (w *writer) handler(depth int) {
	w.object(depth, []string{"type", "command", "timeout"}[w.r.IntN(2):], func(name string, _ int) {
		switch name {
		case "timeout":
			w.out.WriteString("5")
		case "type":
			w.out.WriteString(`"command"`)
		default:
			w.out.WriteString(pick(w.r, `"$HOME/bin/guard.sh"`, `"echo hookd"`, `"not-hookd bridge"`, `"npx prettier --write"`, `"hookd check"`))
		}
	})
}

func (w *writer) value(depth int) {
	switch n := w.r.IntN(8); {
	case n == 0 && depth < 4:
		w.list(depth, w.r.IntN(4), w.value)
	case n == 1 && depth < 4:
		var names []string
		for i := range w.r.IntN(4) {
			names = append(names, fmt.Sprint(pick(w.r, "a", "hooks", "PreToolUse", "x"), i))
		}
		w.object(depth, names, func(_ string, depth int) { w.value(depth) })
	case n == 2:
		w.empty("{", "}", depth)
	default:
		w.out.WriteString(pick(w.r, someScalars...))
	}
}

// empty writes brackets with nothing but blanks and remarks between them.
func (w *writer) empty(open, closing string, depth int) {
	w.out.WriteString(open)
	switch w.r.IntN(5) {
	case 0:
		w.out.WriteString(" ")
	case 1:
		w.line(depth)
	case 2:
		if w.remarks {
			w.out.WriteString(" // nothing yet")
			w.line(depth + 1)
		}
	case 3:
		if w.remarks {
			w.line(depth + 1)
			w.out.WriteString("/* nothing, yet */ ")
		}
	}
	w.out.WriteString(closing)
}

func (w *writer) object(depth int, names []string, value func(string, int)) {
	w.enclose("{", "}", depth, len(names), func(i int) {
		w.out.WriteString(`"` + names[i] + `"` + pick(w.r, ": ", ":", " : "))
		value(names[i], depth+1)
	})
}

func (w *writer) list(depth, n int, item func(int)) {
	w.enclose("[", "]", depth, n, func(int) { item(depth + 1) })
}

func (w *writer) enclose(open, closing string, depth, n int, one func(int)) {
	lines := !w.compact && w.r.IntN(6) > 0
	if n == 0 {
		w.empty(open, closing, depth)
		return
	}
	w.out.WriteString(open)
	for i := range n {
		if lines {
			w.remark("// ")
			w.line(depth + 1)
		} else if w.r.IntN(2) == 0 {
			w.out.WriteString(" ")
		}
		one(i)
		if w.remarks && w.r.IntN(9) == 0 {
			w.out.WriteString(" /* , */ ")
		}
		if i < n-1 || w.trailing && w.r.IntN(2) == 0 {
			w.out.WriteString(",")
		}
	}
	if lines {
		w.remark("// ")
		w.line(depth)
	}
	w.out.WriteString(closing)
}

func (w *writer) line(depth int) {
	w.out.WriteString(w.nl)
	if w.r.IntN(12) == 0 {
		w.out.WriteString(w.nl)
	}
	w.out.WriteString(strings.Repeat(w.unit, depth))
}

// remark writes a comment that ends with its line.
func (w *writer) remark(string) {
	if !w.remarks || w.r.IntN(4) > 0 {
		return
	}
	w.out.WriteString(pick(w.r, " // hooks: {}", " /* \"hooks\": [ */", "  // it's, ok", " /* one"+w.nl+" two */"))
	w.out.WriteString(w.nl)
}

func (w *writer) yaml() {
	unit := pick(w.r, "  ", "    ")
	p := func(lines ...string) {
		for _, line := range lines {
			w.out.WriteString(line + w.nl)
		}
	}
	if w.r.IntN(3) == 0 {
		p("# settings of hermes", "---")
	}
	p("model: anthropic/claude  # the best", "sentinel: here")
	if w.r.IntN(2) == 0 {
		p("prompt: |", unit+"hooks:", unit+unit+"pre_tool_call: no", "", unit+"# no remark", "")
	}
	switch w.r.IntN(6) {
	case 0:
		p("hooks: {}")
	case 1:
		p("hooks:  # none yet")
	case 2:
		p("'hooks':", unit+"# the first", unit+"post_tool_call:", unit+"- command: /usr/bin/logger", unit+"  timeout: 3", "", unit+"pre_tool_call: []   # later")
	case 3:
		p("hooks:", unit+"pre_tool_call:", unit+unit+"- matcher: terminal", unit+unit+"  command: \"guard # x\"", unit+unit+"# - command: off", "")
	}
	if w.r.IntN(2) == 0 {
		p("tools:", unit+"- {name: a, hooks: [1, 2]}", unit+"- 'it''s'", "# the end")
	}
	if w.r.IntN(4) == 0 {
		p("", "last: \"a", "  b\"")
	}
}

func (w *writer) toml() {
	p := func(lines ...string) {
		for _, line := range lines {
			w.out.WriteString(line + w.nl)
		}
	}
	p("# codex", "model = \"gpt\" # best", "sentinel = \"here\"")
	if w.r.IntN(2) == 0 {
		p("notes = \"\"\"", "[[hooks.PreToolUse]]", "# no remark", "\"\"\"")
	}
	if w.r.IntN(2) == 0 {
		p("", "[mcp_servers.a]", "args = [", "  \"x\", # one", "]", "", "[features]", "hooks = true")
	}
	p("", "[[hooks.PreToolUse]]", "matcher = \"^Bash$\"", "[[hooks.PreToolUse.hooks]]", "type = \"command\"", "command = 'guard'", "# its end")
	if w.r.IntN(2) == 0 {
		p("", "[hooks.state]", "\"x:y\" = { enabled = true }")
	}
	if w.r.IntN(3) == 0 {
		p("", "", "# last words")
	}
}
