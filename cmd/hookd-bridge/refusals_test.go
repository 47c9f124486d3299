package main

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"go/format"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/protocol/dialect"
	"github.com/hookd-dev/hookd/protocol/dialect/hosts"
)

var update = flag.Bool("update", false, "write refusals.go")

// The table holds each event of each agent, as package hosts refuses it.
func TestRefusals(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("package main\n\nimport \"time\"\n\n// refusals says how each agent is told that an event is refused. It is generated from package\n// hosts: go generate.\nvar refusals = [...]refusal{\n")
	gates := 0
	for _, a := range hosts.All {
		// An event that nobody names is refused within the shortest limit.
		unnamed := dialect.Row{Limit: slices.MinFunc(a.Rows, func(a, b dialect.Row) int { return cmp.Compare(a.Limit, b.Limit) }).Limit}
		unnamed.Can.Block.Way = dialect.Carried
		for _, row := range append([]dialect.Row{unnamed}, a.Rows...) {
			answer := a.Refuse(row.Name, errors.New("REASON"))
			r := refusal{agent: a.Name, event: row.Name, limit: row.Limit, exit: answer.Exit, stdout: string(answer.Stdout), stderr: answer.Stderr}
			for _, lost := range answer.Lost {
				r.stderr = strings.TrimPrefix(r.stderr+"\n", "\n") + "hookd: note: " + lost
			}
			if row.Can.Block.Possible() {
				gates++
				if r.exit == 0 && r.stdout == "" || !strings.Contains(r.stdout+r.stderr, "REASON") {
					t.Errorf("%s %s is not refused: %+v", a.Name, row.Name, answer)
				}
			}
			if row.Limit <= 0 || row.Limit%1e6 != 0 {
				t.Errorf("%s %s has the limit %v", a.Name, row.Name, row.Limit)
			}
			fmt.Fprintf(&b, "\t{%q, %q, %d * time.Millisecond, %d, %s, %s},\n", r.agent, r.event, r.limit/1e6, r.exit, literal(r.stdout), literal(r.stderr))
		}
	}
	b.WriteString("}\n")
	if gates < 40 {
		t.Errorf("only %d events can be refused", gates)
	}
	want, err := format.Source(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("refusals.go", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := os.ReadFile("refusals.go"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("refusals.go is stale (%v): run make docs", err)
	}
}

func literal(s string) string {
	if strings.ContainsAny(s, "`\n") || s == "" {
		return fmt.Sprintf("%q", s)
	}
	return "`" + s + "`"
}
