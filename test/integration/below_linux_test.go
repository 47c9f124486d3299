package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// shedding are the ways in which a process of an agent can lose what tells where it
// comes from. RUN stands for a clean environment and what is run in it.
var shedding = map[string]string{
	"nothing":                        `RUN`,
	"the variable":                   `env -u HOOK_DEPTH RUN`,
	"a variable that says 0":         `HOOK_DEPTH=0 RUN`,
	"the environment":                `env -i RUN`,
	"the process too":                `exec env -i RUN`,
	"the session":                    `setsid -w env -i RUN`,
	"the parent":                     `(setsid sh -c "sleep 0.1; exec env -i RUN" &)`,
	"the control group":              leaveGroup + `env -i RUN`,
	"all of them":                    leaveGroup + `(setsid sh -c "sleep 0.1; exec env -i RUN" &)`,
	"all, with another program file": `cp "$(command -v hookd)" other; ` + leaveGroup + `(setsid sh -c "sleep 0.1; exec env -i OTHER" &)`,
}

// TestNoAgentDecides: a tool of a run does not grant trust, whatever it sheds, and
// whatever user it runs as. Every process above it tells, its control group, and its
// own environment.
func TestNoAgentDecides(t *testing.T) {
	t.Parallel()
	accounts(t, func(t *testing.T, p *account) {
		p.write(t, "proj/.acai/hooks/guard.sh", "#!/bin/sh\n# hook: events=step-stop can=observe\n")
		for name, way := range shedding {
			t.Run(name, func(t *testing.T) {
				decide := fmt.Sprintf(`PATH=$PATH HOME=$HOME XDG_STATE_HOME=%[1]s/state sh -c \"HOOKD trust --yes >%[1]s/proj/out 2>&1; echo ended >>%[1]s/proj/out\"`, p.folder)
				if !strings.Contains(way, `sh -c "`) {
					decide = strings.ReplaceAll(decide, `\"`, `"`)
				}
				script := strings.NewReplacer("RUN", strings.ReplaceAll(decide, "HOOKD", "hookd"), "OTHER", strings.ReplaceAll(decide, "HOOKD", "./other")).Replace(withGroups(way))
				p.write(t, "proj/out", "")
				p.toolCall(t, script+"\nuntil grep -q ended out; do sleep 0.05; done")
				out, _ := p.hookd(t, "run", "--allow", "bash,write,mcp", "go", "--model", "scripted:model.yaml")
				if said := p.read("proj/out"); !strings.Contains(said, "trust is not granted below a hook or an agent run") {
					t.Errorf("it said %q\n%s", said, out)
				}
				if list, _ := p.hookd(t, "trust", "--list", "--json"); strings.Contains(list, `"trusted"`) {
					t.Fatalf("granted: %s", list)
				}
			})
		}
		if out, code := p.hookd(t, "trust", "--yes"); code != 0 {
			t.Errorf("the person is refused: %s", out)
		}
	})
}

// TestDepthEndsWhateverIsShed: a hook that starts hookd for the event that it answers
// goes on to the limit and no further, whatever it sheds.
func TestDepthEndsWhateverIsShed(t *testing.T) {
	t.Parallel()
	accounts(t, func(t *testing.T, p *account) {
		for name, way := range shedding {
			if name == "nothing" {
				continue // a story of its own
			}
			t.Run(name, func(t *testing.T) {
				again := fmt.Sprintf(`PATH=$PATH HOME=$HOME XDG_STATE_HOME=%[1]s/state HOOKD fire prompt-submit`, p.folder)
				script := strings.NewReplacer("RUN", strings.ReplaceAll(again, "HOOKD", "hookd"), "OTHER", strings.ReplaceAll(again, "HOOKD", "./other")).Replace(withGroups(way))
				if name == "a variable that says 0" {
					script = "env " + script
				}
				p.write(t, "proj/starts", "")
				p.write(t, "home/.acai/hooks/again.sh", "#!/bin/sh\n# hook: events=prompt-submit can=block timeout=20s\necho x >>\"$HOOK_PROJECT_DIR/starts\"\n"+script+"\nsleep 0.3\n")
				began := time.Now()
				p.hookd(t, "fire", "prompt-submit")
				if n := strings.Count(p.read("proj/starts"), "x"); n < 1 || n > 2 {
					t.Errorf("the hook was started %d times", n)
				}
				t.Logf("%d starts in %s", strings.Count(p.read("proj/starts"), "x"), time.Since(began).Round(time.Millisecond))
			})
		}
	})
}
