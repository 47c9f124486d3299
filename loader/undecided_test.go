//go:build unix

package loader

import (
	"testing"

	"github.com/hookd-dev/hookd/loader/internal/report"
)

// F64: check names a condition on what calls of a matched tool need not have.
func TestConditionsOnWhatAToolLacksAreNamed(t *testing.T) {
	for rules, want := range map[string]bool{
		`match.tool=@shell match.when="data.args.command contains \"x\""`:          false,
		`match.tool=Bash match.when="data.args.command contains \"x\""`:            false,
		`match.tool=@write match.when="data.args.path contains \"x\""`:             false,
		`match.when="data.args.command contains \"x\""`:                            true,
		`match.tool=*file match.when="data[\"args\"][\"content\"] contains \"x\""`: true,
		`match.tool=bash match.when="data.args.cmd contains \"x\""`:                true,
		`match.when="data.args?.command contains \"x\""`:                           false,
		`match.when="has(data.args.command)"`:                                      false,
		`match.when="has(data.args.command) && data.args?.command contains \"x\""`: false,
		`match.when="data.name == \"x\""`:                                          false,
		`can=observe match.when="data.args.command contains \"x\""`:                false,
	} {
		w := newWorld(t)
		can := "can=block "
		if rules[:4] == "can=" {
			can = ""
		}
		w.hook("g", "#!/bin/sh\n# hook: events=tool-call-start "+can+rules+"\nexit 0\n")
		w.allow()
		if got := hasFinding(Advice(w.load()), report.Undecided, "g"); got != want {
			t.Errorf("%s: %v, want %v", rules, got, want)
		}
	}
}
