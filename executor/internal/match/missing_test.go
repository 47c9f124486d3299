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

func decided(t *testing.T, when string, ev *protocol.Event) (decision, error) {
	t.Helper()
	m, key, err := compileMatch(&schema.Match{When: when})
	if err != nil {
		t.Fatalf("%s: %s: %v", when, key, err)
	}
	return m.holds(t.Context(), newFacts(ev))
}

// F64: a member of args that is not there, or is null, leaves a condition undecided
// however it is read; what says that it may be missing does not.
func TestMissingMembersAreNotNo(t *testing.T) {
	for when, want := range map[string]decision{
		`data.args.command matches "push"`:                                         undecided,
		`data.args.command contains "push"`:                                        undecided,
		`data.args.command startsWith "git"`:                                       undecided,
		`data.args.command == "git push"`:                                          undecided,
		`data.args.command != "ls"`:                                                undecided,
		`data.args.command in ["git push"]`:                                        undecided,
		`data["args"]["command"] matches "push"`:                                   undecided,
		`data.args["comm" + "and"] matches "push"`:                                 undecided,
		`let c = data.args.command; c matches "push"`:                              undecided,
		`let a = data.args; let c = a.command; c matches "push" && true`:           undecided,
		`any([data.args], #.command matches "push")`:                               undecided,
		`any([data.args], .command matches "push")`:                                undecided,
		`len(filter([data.args], .command matches "push")) > 0`:                    undecided,
		`data.args | get("command") == "git push"`:                                 undecided,
		`get(data.args, "command") == "git push"`:                                  undecided,
		`get(get(data, "args"), "command") == "git push"`:                          undecided,
		`(data.args.command ?? "") matches "push"`:                                 undecided,
		`lower(data.args.command) contains "push"`:                                 undecided,
		`len(data.args.command) > 3`:                                               undecided,
		`(data.name == "bash" ? data.args.command : "") contains "push"`:           undecided,
		`data.name == "bash" ? data.args.command contains "push" : false`:          undecided,
		`if data.name == "bash" { data.args.command contains "push" } else {true}`: undecided,
		`not (data.args.command matches "push")`:                                   undecided,
		`!(data.args.command contains "ls")`:                                       undecided,
		`data.args.command == nil`:                                                 undecided,
		`(data.args.command matches "x") == false`:                                 undecided,
		`data.args.deep.command == "x"`:                                            undecided,
		`data.args.list[0].command == "x"`:                                         undecided,
		`any(data.args.list, .command == "x")`:                                     undecided,
		`data.args.null == "x"`:                                                    undecided,
		`metadata["a.sh"].seen`:                                                    undecided,
		`data.args.number matches "x"`:                                             undecided,
		`data.args.list contains "x"`:                                              undecided,
		`data.args.list[9] == "x"`:                                                 undecided,

		// Logic has three values, on either side.
		`data.args.command matches "push" && data.name == "grep"`:    no,
		`data.name == "grep" && data.args.command matches "push"`:    no,
		`data.args.command matches "push" and data.name == "grep"`:   no,
		`data.args.command matches "push" || data.name == "bash"`:    yes,
		`data.name == "bash" or data.args.command matches "push"`:    yes,
		`data.args.command matches "push" || data.name == "grep"`:    undecided,
		`data.args.command matches "push" && data.name == "bash"`:    undecided,
		`not (data.args.command matches "push" || true)`:             no,
		`not (data.args.command matches "push" && false)`:            yes,
		`let c = data.args.command; c matches "push" && false`:       no,
		`let c = data.args.command; data.name == "bash" || c == "x"`: yes,
		`data.args.command == "x" ? true : true`:                     yes,
		`data.args.command == "x" ? false : data.name == "grep"`:     no,
		`data.args.command == "x" ? true : false`:                    undecided,
		`data.args.number matches "x" && data.name == "grep"`:        no,

		// Absence is meant.
		`has(data.args.command)`:           no,
		`has(data.args.deep.command)`:      no,
		`has(data.args.deep.deeper.still)`: no,
		`has(data.args.null)`:              no,
		`has(data.args.cmd)`:               yes,
		`data.args.cmd | has()`:            yes,
		`has(data["args"]["cmd"])`:         yes,
		`has(data.args?.cmd)`:              yes,
		`!has(data.args.command) || data.args.command matches "push"`: yes,
		`has(data.args.command) && data.args.command matches "push"`:  no,
		`data.args?.command matches "push"`:                           no,
		`data.args?.command == nil`:                                   yes,
		`(data.args?.command ?? "git push") matches "push"`:           yes,
		`data.args?.deep?.command?.more == nil`:                       yes,
		`"command" in data.args`:                                      no,
		`"cmd" in data.args`:                                          yes,

		// Members of the protocol that may be absent are nil.
		`recipe == nil && usage.costUsd == nil && agent.parent == nil`: yes,
		`data.server == nil`:                                   yes,
		`data.server == "github"`:                              no,
		`data.args.cmd == "git push" && data.args.deep.x == 1`: yes,
		`data.args == {"a": 1}`:                                no,
		`len(data.args) == 5 && len(keys(data.args)) == 5`:     yes,
		`data.args.deep == {"x": 1}`:                           yes,
		`agent?.host == "x" || session?.id == "x"`:             no,
	} {
		ev := argsEvent(`{"cmd":"git push","deep":{"x":1},"list":[{"y":1}],"null":null,"number":7}`)
		got, err := decided(t, when, ev)
		if got != want || (err != nil) != (want == undecided) {
			t.Errorf("%s: %v, want %v (%v)", when, got, want, err)
		}
	}
	for _, when := range []string{`has()`, `has("x")`, `has(data.args.a, data.args.b)`, `has(lower(data.args.a))`, `has(data)`} {
		if _, _, err := compileMatch(&schema.Match{When: when}); err == nil {
			t.Errorf("%s compiles", when)
		}
	}
}

// F64, end to end: the guard is asked and told why once; an observer, which can refuse
// nothing, is not.
func TestGuardsAreAskedWhatIsUndecided(t *testing.T) {
	when := `data.args.command matches "push"`
	guard := goHook("guard", protocol.CanBlock, block)
	modifier := goHook("modifier", protocol.CanModify, observe)
	watcher := goHook("watcher", protocol.CanObserve, observe)
	required := goHook("required", protocol.CanObserve, observe)
	required.Required = true
	all := []protocol.GoHook{guard, modifier, watcher, required}
	for i := range all {
		all[i].Match.When = when
	}
	e := newExecutor(t, schema.HookSettings{}, Options{}, all...)
	for _, args := range []string{`{}`, `{"cmd":"git push"}`, `{"command":null}`, `{"command":["git","push"]}`, `{"command":7}`, `{"command":"git push"}`} {
		if o := fire(t, e, *argsEvent(args)); o.Action != protocol.Block {
			t.Errorf("%s: %s by %+v", args, o.Action, o.Runs)
		}
	}
	if o := fire(t, e, *argsEvent(`{"command":"ls"}`)); o.Action != protocol.Observe {
		t.Errorf("a command that does not match: %+v", o)
	}
	asked := newExecutor(t, schema.HookSettings{}, Options{}, all[1:]...)
	for i := range 2 {
		o := fire(t, asked, *argsEvent(`{}`))
		var names []string
		told := 0
		for _, run := range o.Runs {
			names = append(names, run.Hook)
			for _, w := range run.Warnings {
				if strings.Contains(w, "there is no command") && strings.Contains(w, "has(") {
					told++
				}
			}
		}
		if got := strings.Join(names, " "); got != "modifier required" {
			t.Errorf("asked: %s", got)
		}
		if want := 2 * (1 - i); told != want {
			t.Errorf("told %d times, want %d: %+v", told, want, o.Runs)
		}
	}
}

// The three values against a reading of the tables of logic by itself.
func TestLogicHasThreeValues(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 64))
	ev := argsEvent(`{"yes":true,"no":false}`)
	var random func(depth int) (string, decision)
	random = func(depth int) (string, decision) {
		if depth == 0 || r.IntN(4) == 0 {
			switch r.IntN(4) {
			case 0:
				return `data.args.yes`, yes
			case 1:
				return `data.args.no`, no
			case 2:
				return `data.args.missing`, undecided
			}
			return `data.args.yes == data.args.missing`, undecided
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
		case z == yes:
			return "(" + c + " ? " + a + " : " + b + ")", x
		case z == no:
			return "(" + c + " ? " + a + " : " + b + ")", y
		case x == y:
			return "(" + c + " ? " + a + " : " + b + ")", x
		}
		return "(" + c + " ? " + a + " : " + b + ")", undecided
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

func opposite(d decision) decision {
	switch d {
	case yes:
		return no
	case no:
		return yes
	}
	return undecided
}

func least(a, b decision) decision {
	switch {
	case a == no || b == no:
		return no
	case a == undecided || b == undecided:
		return undecided
	}
	return yes
}
