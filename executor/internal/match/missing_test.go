package match

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

func argsEvent(args string) *protocol.Event {
	ev := *toolEvent("bash", "shell")
	ev.Data = []byte(`{"toolCallId":"c1","name":"bash","kind":"shell","args":` + args + `,"parallel":1}`)
	return &ev
}

func decided(t *testing.T, when string, ev *protocol.Event) (Decision, error) {
	t.Helper()
	m, key, err := Compile(&schema.Match{When: when})
	if err != nil {
		t.Fatalf("%s: %s: %v", when, key, err)
	}
	return m.Decide(t.Context(), NewInput(ev, nil))
}

// F64: a member of args that is not there, or is null, leaves a condition undecided
// however it is read; what says that it may be missing does not.
func TestMissingMembersAreNotNo(t *testing.T) {
	for when, want := range map[string]Decision{
		`data.args.command matches "push"`:                                         Undecided,
		`data.args.command contains "push"`:                                        Undecided,
		`data.args.command startsWith "git"`:                                       Undecided,
		`data.args.command == "git push"`:                                          Undecided,
		`data.args.command != "ls"`:                                                Undecided,
		`data.args.command in ["git push"]`:                                        Undecided,
		`data["args"]["command"] matches "push"`:                                   Undecided,
		`data.args["comm" + "and"] matches "push"`:                                 Undecided,
		`let c = data.args.command; c matches "push"`:                              Undecided,
		`let a = data.args; let c = a.command; c matches "push" && true`:           Undecided,
		`any([data.args], #.command matches "push")`:                               Undecided,
		`any([data.args], .command matches "push")`:                                Undecided,
		`len(filter([data.args], .command matches "push")) > 0`:                    Undecided,
		`data.args | get("command") == "git push"`:                                 Undecided,
		`get(data.args, "command") == "git push"`:                                  Undecided,
		`get(get(data, "args"), "command") == "git push"`:                          Undecided,
		`(data.args.command ?? "") matches "push"`:                                 Undecided,
		`lower(data.args.command) contains "push"`:                                 Undecided,
		`len(data.args.command) > 3`:                                               Undecided,
		`(data.name == "bash" ? data.args.command : "") contains "push"`:           Undecided,
		`data.name == "bash" ? data.args.command contains "push" : false`:          Undecided,
		`if data.name == "bash" { data.args.command contains "push" } else {true}`: Undecided,
		`not (data.args.command matches "push")`:                                   Undecided,
		`!(data.args.command contains "ls")`:                                       Undecided,
		`data.args.command == nil`:                                                 Undecided,
		`(data.args.command matches "x") == false`:                                 Undecided,
		`data.args.deep.command == "x"`:                                            Undecided,
		`data.args.list[0].command == "x"`:                                         Undecided,
		`any(data.args.list, .command == "x")`:                                     Undecided,
		`data.args.null == "x"`:                                                    Undecided,
		`metadata["a.sh"].seen`:                                                    Undecided,
		`data.args.number matches "x"`:                                             Undecided,
		`data.args.list contains "x"`:                                              Undecided,
		`data.args.list[9] == "x"`:                                                 Undecided,

		// Logic has three values, on either side.
		`data.args.command matches "push" && data.name == "grep"`:    No,
		`data.name == "grep" && data.args.command matches "push"`:    No,
		`data.args.command matches "push" and data.name == "grep"`:   No,
		`data.args.command matches "push" || data.name == "bash"`:    Yes,
		`data.name == "bash" or data.args.command matches "push"`:    Yes,
		`data.args.command matches "push" || data.name == "grep"`:    Undecided,
		`data.args.command matches "push" && data.name == "bash"`:    Undecided,
		`not (data.args.command matches "push" || true)`:             No,
		`not (data.args.command matches "push" && false)`:            Yes,
		`let c = data.args.command; c matches "push" && false`:       No,
		`let c = data.args.command; data.name == "bash" || c == "x"`: Yes,
		`data.args.command == "x" ? true : true`:                     Yes,
		`data.args.command == "x" ? false : data.name == "grep"`:     No,
		`data.args.command == "x" ? true : false`:                    Undecided,
		`data.args.number matches "x" && data.name == "grep"`:        No,

		// Absence is meant.
		`has(data.args.command)`:           No,
		`has(data.args.deep.command)`:      No,
		`has(data.args.deep.deeper.still)`: No,
		`has(data.args.null)`:              No,
		`has(data.args.cmd)`:               Yes,
		`data.args.cmd | has()`:            Yes,
		`has(data["args"]["cmd"])`:         Yes,
		`has(data.args?.cmd)`:              Yes,
		`!has(data.args.command) || data.args.command matches "push"`: Yes,
		`has(data.args.command) && data.args.command matches "push"`:  No,
		`data.args?.command matches "push"`:                           No,
		`data.args?.command == nil`:                                   Yes,
		`(data.args?.command ?? "git push") matches "push"`:           Yes,
		`data.args?.deep?.command?.more == nil`:                       Yes,
		`"command" in data.args`:                                      No,
		`"cmd" in data.args`:                                          Yes,

		// Members of the protocol that may be absent are nil.
		`recipe == nil && usage.costUsd == nil && agent.parent == nil`: Yes,
		`data.server == nil`:                                   Yes,
		`data.server == "github"`:                              No,
		`data.args.cmd == "git push" && data.args.deep.x == 1`: Yes,
		`data.args == {"a": 1}`:                                No,
		`len(data.args) == 5 && len(keys(data.args)) == 5`:     Yes,
		`data.args.deep == {"x": 1}`:                           Yes,
		`agent?.host == "x" || session?.id == "x"`:             No,
	} {
		ev := argsEvent(`{"cmd":"git push","deep":{"x":1},"list":[{"y":1}],"null":null,"number":7}`)
		got, err := decided(t, when, ev)
		if got != want || (err != nil) != (want == Undecided) {
			t.Errorf("%s: %v, want %v (%v)", when, got, want, err)
		}
	}
	for _, when := range []string{`has()`, `has("x")`, `has(data.args.a, data.args.b)`, `has(lower(data.args.a))`, `has(data)`} {
		if _, _, err := Compile(&schema.Match{When: when}); err == nil {
			t.Errorf("%s compiles", when)
		}
	}
}

// The three values against a reading of the tables of logic by itself.
func TestLogicHasThreeValues(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 64))
	ev := argsEvent(`{"yes":true,"no":false}`)
	var random func(depth int) (string, Decision)
	random = func(depth int) (string, Decision) {
		if depth == 0 || r.IntN(4) == 0 {
			switch r.IntN(4) {
			case 0:
				return `data.args.yes`, Yes
			case 1:
				return `data.args.no`, No
			case 2:
				return `data.args.missing`, Undecided
			}
			return `data.args.yes == data.args.missing`, Undecided
		}
		a, x := random(depth - 1)
		b, y := random(depth - 1)
		switch r.IntN(5) {
		case 0:
			return "(" + a + " && " + b + ")", least(x, y)
		case 1:
			return "(" + a + " or " + b + ")", opposite(least(opposite(x), opposite(y)))
		case 2:
			return "not (" + a + ")", opposite(x)
		case 3:
			return fmt.Sprintf("(let v%d = data.args.missing; %s)", r.IntN(1_000_000_000), a), x
		}
		c, z := random(depth - 1)
		switch {
		case z == Yes:
			return "(" + c + " ? " + a + " : " + b + ")", x
		case z == No:
			return "(" + c + " ? " + a + " : " + b + ")", y
		case x == y:
			return "(" + c + " ? " + a + " : " + b + ")", x
		}
		return "(" + c + " ? " + a + " : " + b + ")", Undecided
	}
	for range 1500 {
		when, want := random(4)
		if strings.Count(when, "data.") > mostParts || len(when) > longestCondition {
			continue
		}
		if got, err := decided(t, when, ev); got != want {
			t.Fatalf("%s: %v, want %v (%v)", when, got, want, err)
		}
	}
}

func opposite(d Decision) Decision {
	switch d {
	case Yes:
		return No
	case No:
		return Yes
	}
	return Undecided
}

func least(a, b Decision) Decision {
	switch {
	case a == No || b == No:
		return No
	case a == Undecided || b == Undecided:
		return Undecided
	}
	return Yes
}
