//go:build unix

package main

import (
	"bytes"
	"fmt"
	"strings"
	"time"
)

// measurement is one run of the benchmark on one machine.
type measurement struct {
	machine, date string
	results       []*result
}

// fastSpawn is the C spawn of a machine that the targets are made for. On a slower
// machine the spawn hides what hookd adds.
const fastSpawn = 150 * time.Microsecond

const pageHead = `# Benchmarks

What hookd costs, compared with the least that the machine needs for the same work. ` + "`make bench`" + ` writes this page in about 15 minutes. ` + "`BENCH=quick make bench`" + ` takes one minute and only prints.

**Which row is yours.** If you write hooks in sh, Python or JavaScript: ` + "`plain/…`" + `, whose floor every program pays that starts this hook; ` + "`standby/…`" + ` and ` + "`resident/…`" + ` are the faster ways. If you have hookd under another agent: ` + "`bridge/…`" + `, compared with the floor of ` + "`plain/python`" + `, a hook that the agent starts by itself. If your own agent asks hookd: ` + "`serve/N`" + `. If hookd guards an MCP server or an agent in an editor: ` + "`mcp/…`" + `, ` + "`acp/…`" + `. If your editor talks with hookd's own agent: ` + "`editor/…`" + `. If you have many hooks: ` + "`match/1000`" + `, ` + "`hooks/10`" + `, ` + "`parallel/3`" + `. A model takes seconds to answer.

<!-- not run: needs a clone and a C compiler, and takes minutes -->
` + "```sh" + `
go run ./test/bench -run serve/1  # -list prints the names of all rows
go run ./test/bench -from bin/bench.txt -doc docs/benchmarks.md  # the page again, without measuring
make bench-compare OLD=before.txt NEW=bin/bench.txt
` + "```" + `

In each row a yardstick and hookd take turns in short bursts. The ratio is the median of the ratios of single rounds, so a busy machine slows both alike; in the table of all figures it stands after each player's median and its p99 in brackets. *hookd* is everything that is on by default: an allowed hook, containment, a session, the record. A hook named *c* has no C library. An event has 1 KiB unless the row says otherwise. The yardsticks: *floor* is a C program that starts the hook with two pipes, writes the event, reads to the end and waits. *spawn* is the floor, with a hook that answers. *pipe* is a C program that exchanges a line with a C process that already runs. *small* is a Go daemon of about 120 lines that reads a line, runs the hook and answers; the same C client asks it and ` + "`hookd serve`" + `. *direct* is an MCP server or an agent in C that the same client asks without hookd.

| rows | what is measured |
|---|---|
| ` + "`plain/HOOK/SIZE`" + `, ` + "`hooks/10`" + `, ` + "`parallel/3`" + ` | one hook, ten in a row (time for each), three side by side; each is started for the event. ` + "`standby/HOOK`" + `, ` + "`resident/HOOK`" + `: a hook whose process waits for its event; a hook that lives as long as its session |
| ` + "`serve/N`" + `, ` + "`flight/2`" + ` | N hooks asked through ` + "`hookd serve`" + `, time for each; two events in flight, events per second |
| ` + "`match/1000`" + `, ` + "`rules/100`" + `, ` + "`abort`" + ` | an event that none of 1,000 hooks wants; one about whose command 100 rules have nothing to say; from an abort until every process is dead |
| ` + "`describe`, `warm`, `reload`, `change`" + ` | asking N hooks what they are for; a start when that is known; a reload without a change; from a changed file among N until the new set is active. ` + "`heap/2GiB`, `process`, `fire`, `memory/…`" + `: an event in a process with a large heap; package ` + "`executor/process`" + ` alone; ` + "`hookd fire`" + ` as a whole process, against an empty Go program; resident memory at rest, and what of it is not the program's file (*own*) |
| ` + "`bridge/…`" + ` | what another agent starts for an event, as a whole process, against an empty Go program: ` + "`hookd-bridge`" + ` with a daemon and N hooks that want the event; ` + "`hookd bridge`" + ` without one, and ` + "`hookd-bridge`" + ` that becomes it |
| ` + "`mcp/…`, `acp/…`" + ` | a client in C through ` + "`hookd mcp`" + ` to a server in C and back, through ` + "`hookd acp`" + ` to an agent in C: a call, a prompt, with N resident hooks, judged with its end; a notification each way. ` + "`editor/…`" + `: a prompt of an editor to hookd's own agent, until the model's first word, and with one tool call until its end; the model answers at once |

`

// page is the page in Markdown. The plot is in the file of that name.
func (m measurement) page(plot string) []byte {
	var out bytes.Buffer
	out.WriteString(pageHead)
	fmt.Fprintf(&out, "**Machine:** %s. %s.%s\n\n", m.machine, m.date, m.floors())
	fmt.Fprintf(&out, "![Time to the answer for each way of running a hook](%s)\n\n", plot)
	m.writeTargets(&out)
	m.writeMissed(&out)
	m.writeFigures(&out)
	return out.Bytes()
}

// floors says how long the machine's own starts and exchanges took, and whether the
// targets are made for such a machine.
func (m measurement) floors() string {
	text := ""
	spawned := lookUp(m.results, "plain/c/1KiB", floor)
	if spawned != nil {
		text += fmt.Sprintf(" **Floor:** a C spawn takes %s.", short(spawned.median))
	}
	if exchanged := lookUp(m.results, "resident/c", pipe); exchanged != nil {
		text += fmt.Sprintf(" A round trip over two pipes takes %s.", short(exchanged.median))
	}
	if spawned != nil && spawned.median > fastSpawn {
		text += fmt.Sprintf(" The targets are made for a spawn under %s: a slower spawn hides what hookd adds.", short(fastSpawn))
	}
	return text
}

// writeTargets writes a line for each target.
func (m measurement) writeTargets(out *bytes.Buffer) {
	out.WriteString("## Targets\n\n| row | yardstick | its median | player | median | measured | target | |\n|---|---|---|---|---|---|---|---|\n")
	for _, r := range m.results {
		for _, t := range r.row.targets {
			yardstick, base, median := "–", "–", "–"
			if s := r.standing(t.player); s != nil {
				median = short(s.median)
				if against := r.standing(s.against); against != nil && against != s {
					yardstick, base = against.player, short(against.median)
				}
			}
			measured, word := t.verdict(r)
			switch {
			case r.skipped != "":
				word += ": " + r.skipped
			case word == "missed":
				word = "**missed**"
			}
			fmt.Fprintf(out, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", r.row.name, yardstick, base, t.player, median, measured, t.bound(), word)
		}
	}
	out.WriteString("\n")
}

// writeMissed writes a line for each target that is missed, with the reason if one is
// known.
func (m measurement) writeMissed(out *bytes.Buffer) {
	var list strings.Builder
	for _, r := range m.results {
		for _, t := range r.row.targets {
			if measured, word := t.verdict(r); word == "missed" {
				fmt.Fprintf(&list, "- **%s**: %s, target %s. %s\n", r.row.name, measured, t.bound(), reasonFor(r, t))
			}
		}
	}
	if list.Len() == 0 {
		out.WriteString("Every target that was measured is met.\n\n")
		return
	}
	out.WriteString("What is missed, and why:\n\n" + list.String() + "\n")
}

// writeFigures writes a line for each row, with all its players.
func (m measurement) writeFigures(out *bytes.Buffer) {
	out.WriteString("## All figures\n\n| row | players |\n|---|---|\n")
	for _, r := range m.results {
		var cells []string
		for i, s := range r.standings {
			cell := fmt.Sprintf("%s %s (%s)", s.player, short(s.median), short(s.p99))
			if i > 0 {
				cell += fmt.Sprintf(" %s ×", ratioText(s.ratio))
			}
			if i > 1 && s.against != r.standings[0].player {
				cell += " " + s.against
			}
			cells = append(cells, cell)
		}
		for _, f := range r.figures {
			cells = append(cells, fmt.Sprintf("%s %s", f.name, f.text()))
		}
		if r.skipped != "" {
			cells = []string{"not measured: " + r.skipped}
		}
		fmt.Fprintf(out, "| %s | %s |\n", r.row.name, strings.Join(cells, " · "))
	}
}
