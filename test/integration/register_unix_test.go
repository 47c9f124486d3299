//go:build unix

package integration

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// A client of the daemon registers a hook as a person does: it writes the file where
// the person's hooks lie, and says hooks/reload. A message alone registers nothing,
// because what comes over the wire was allowed by nobody.
func TestAClientRegistersAHookAsAFile(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	k := serve(t, b)
	fire := `{"event":"tool-call-start","session":{"id":"s1"},"data":{"toolCallId":"c1","name":"bash","kind":"shell","args":{"command":"ls"},"parallel":1}}`
	where := fmt.Sprintf(`{"project":%q}`, b.project)
	const guard = "#!/bin/sh\n# hook: events=tool-call-start can=block\necho '{\"action\":\"block\",\"reason\":\"registered\"}'\n"

	for _, method := range []string{"hooks/register", "crow.hooks.register"} {
		if answer := string(k.call(method, `{"point":"tool-call-start","name":"guard.sh","handler":"/bin/false"}`)); !strings.Contains(answer, "-32601") {
			t.Errorf("%s: %s", method, answer)
		}
	}
	if o := k.outcome(k.call("event/fire", fire)); o.Action != "observe" || len(o.Runs) > 0 {
		t.Errorf("before: %s, %+v", o.Action, o.Runs)
	}

	writeFile(t, filepath.Join(b.home, ".acai", "hooks", "guard.sh"), guard, 0o755)
	if listed := string(k.call("hooks/reload", where)); !strings.Contains(listed, `"guard.sh"`) {
		t.Errorf("hooks/reload: %s", listed)
	}
	if o := k.outcome(k.call("event/fire", fire)); o.Action != "block" || o.Reason != "registered" {
		t.Errorf("after: %s %q", o.Action, o.Reason)
	}

	// In the project nobody allowed it, so it is a guard that refuses, and is not run.
	writeFile(t, filepath.Join(b.project, ".acai", "hooks", "theirs.sh"), strings.Replace(guard, "registered", "ran", 1), 0o755)
	k.call("hooks/reload", where)
	if o := k.outcome(k.call("event/fire", fire)); o.Action != "block" || strings.Contains(o.Reason, "ran") {
		t.Errorf("of the project: %s %q", o.Action, o.Reason)
	}
}
