package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/protocol/dialect/hosts"
	"github.com/hookd-dev/hookd/schema"
)

func init() {
	generated["works-with"] = worksWith
	generated["costs"] = costs
	generated["not-run"] = notRun
}

// notRun lists the blocks of commands that no test runs, with the reason in their mark.
func notRun() string {
	var b strings.Builder
	b.WriteString("| page | not run, because |\n|---|---|\n")
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		found, err := filepath.Glob(filepath.Join("..", "..", pattern))
		if err != nil {
			return err.Error()
		}
		for _, page := range found {
			text, err := os.ReadFile(page)
			if err != nil {
				return err.Error()
			}
			name := strings.TrimPrefix(filepath.ToSlash(page), "../../")
			for _, block := range blocksOf(name, string(text)) {
				if block.notRun != "" {
					fmt.Fprintf(&b, "| [%s](%s) | %s |\n", name, name, block.notRun)
				}
			}
		}
	}
	return b.String()
}

// worksWith is the line of the first page that says which agents call hookd.
func worksWith() string {
	var names []string
	for _, a := range hosts.All {
		names = append(names, fmt.Sprintf("[%s](docs/bridges.md#%s)", a.Title, anchorOf(a.Title)))
	}
	return "Works with " + strings.Join(names, " · ") + " · every agent that [an editor starts](docs/acp-proxy.md) over ACP, every program that calls [MCP servers](docs/mcp-proxy.md), every agent that can [speak JSON-RPC](docs/daemon.md), and hookd's own, [`hookd run`](docs/agent.md)."
}

// measured reads the medians of a row from the table of all figures, by player.
func measured(page, row string) (map[string]string, error) {
	line := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(row) + ` \| (.*) \|$`).FindStringSubmatch(page[strings.Index(page, "## All figures")+1:])
	if line == nil {
		return nil, fmt.Errorf("docs/benchmarks.md has no row %s", row)
	}
	players := map[string]string{}
	for _, part := range strings.Split(line[1], " · ") {
		if found := regexp.MustCompile(`^(.+?) ([\d.]+ (?:µs|ms|s)) \(`).FindStringSubmatch(part); found != nil {
			players[found[1]] = found[2]
		}
	}
	return players, nil
}

// costs are three figures of the first page: what hookd takes, compared with what people
// use in its place. They are those of docs/benchmarks.md.
func costs() string {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "benchmarks.md"))
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	b.WriteString("| | without hookd | with hookd | measure it |\n|---|---|---|---|\n")
	for _, c := range []struct{ what, row, plainRow, plain, plainText, player, text string }{
		{"a shell script as a hook", "plain/sh/1KiB", "plain/sh/1KiB", "floor", "started by a small C program", "hookd", "contained, limited, recorded"},
		{"a Python hook", "standby/python", "standby/python", "spawn", "started for each event", "hookd", "in [standby](docs/modes.md#standby), which is one word in its header"},
		{"another agent asks a guard", "bridge/warm/1", "plain/python/1KiB", "floor", "its own hook in Python", "messenger", "`hookd-bridge`, the daemon and a hook without a C library"},
	} {
		figures, err := measured(string(text), c.row)
		if err != nil {
			return err.Error()
		}
		plain, err := measured(string(text), c.plainRow)
		if err != nil {
			return err.Error()
		}
		if figures[c.player] == "" || plain[c.plain] == "" {
			return "docs/benchmarks.md has no figure of " + c.player + " in " + c.row + ", or of " + c.plain + " in " + c.plainRow
		}
		fmt.Fprintf(&b, "| %s | %s, %s | %s, %s | `go run ./test/bench -run %s` |\n", c.what, plain[c.plain], c.plainText, figures[c.player], c.text, c.row)
	}
	return b.String()
}

// The first page has no table of settings, and the first lines hold what a person looks for.
func TestTheFirstScreenSaysWhatAPersonLooksFor(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root(t), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	if len(lines) > 350 {
		t.Errorf("README.md has %d lines", len(lines))
	}
	first := strings.Join(lines[:36], "\n")
	for _, want := range []string{"Works with [Claude Code]", "](docs/first.svg)", "hookd init\nhookd new guard.sh --lang sh\nhookd fire", "✗ tool-call-start refused"} {
		if !strings.Contains(first, want) {
			t.Errorf("the first screen of README.md does not have %q", want)
		}
	}
	for _, line := range lines {
		if strings.HasPrefix(line, "| `hooks.") || strings.HasPrefix(line, "| `agent.") {
			t.Errorf("README.md has a row of the table of settings, which belongs to docs/settings.md: %s", line)
		}
	}
}

// docs/settings.md shows each key in an example.
func TestEverySettingHasAnExample(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root(t), "docs", "settings.md"))
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	for _, b := range blocksOf("docs/settings.md", string(text)) {
		var values map[string]any
		if b.language == "json" && json.Unmarshal([]byte(b.text), &values) == nil {
			collectKeys(shown, "", values)
		}
	}
	for i := range schema.Keys {
		if name := schema.Keys[i].Name; !shown[name] {
			t.Errorf("no example in docs/settings.md has %s", name)
		}
	}
}

func collectKeys(shown map[string]bool, prefix string, values map[string]any) {
	for name, value := range values {
		shown[prefix+name] = true
		if inner, is := value.(map[string]any); is {
			collectKeys(shown, prefix+name+".", inner)
		}
	}
}
