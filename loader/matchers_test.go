//go:build unix

package loader

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/protocol"
)

// A condition that does not compile is reported where it was written, in one
// line, and the guard refuses until it is mended.
func TestBadConditionIsReportedWhereItIs(t *testing.T) {
	const remedy = " -> correct the hook's match"
	for name, test := range map[string]struct {
		settings, header, side string
		want                   string
	}{
		"in the header": {
			header: "# hook: events=tool-call-start can=block\n# hook: match.when=\"data.x +\"\n",
			want:   "error bad-matcher hooks/g.sh:3 match.when (g.sh): match.when: unexpected token EOF (1:8)" + remedy,
		},
		"not a bool": {
			header: "# hook: events=tool-call-start can=block match.when=step\n",
			want:   "error bad-matcher hooks/g.sh:2 match.when (g.sh): match.when: expected bool, but got int" + remedy,
		},
		"a name that no event has": {
			header: "# hook: events=tool-call-start can=block match.when=tool==1\n",
			want:   "error bad-matcher hooks/g.sh:2 match.when (g.sh): match.when: unknown name tool (1:1)" + remedy,
		},
		"in the side file": {
			side: "{\"events\":[\"tool-call-start\"],\n\"can\":\"block\",\n\"match\":{\"when\":\"1 +\"}}",
			want: "error bad-matcher hooks/g.sh.hook.json:3 match.when (g.sh): match.when: unexpected token EOF (1:3)" + remedy,
		},
		"in the settings, over the header": {
			header:   "# hook: events=tool-call-start can=block match.when=true\n",
			settings: "{\"hooks\":{\"use\":[\n{\"name\":\"g.sh\",\"match\":{\"when\":\"1 +\"}}]}}",
			want:     "error bad-matcher acai.json:2 hooks.use[0].match.when (g.sh): match.when: unexpected token EOF (1:3)" + remedy,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.hook("g.sh", "#!/bin/sh\n"+test.header+"exit 0\n")
			if test.side != "" {
				w.write(w.hookPath("g.sh.hook.json"), test.side, 0o644)
			}
			if test.settings != "" {
				w.settings(test.settings)
			}
			w.allow()
			s := w.load()
			var got []string
			for _, text := range lines(s.Findings) {
				got = append(got, strings.ReplaceAll(text, w.path(".acai")+"/", ""))
			}
			if d := cmp.Diff([]string{test.want}, got); d != "" {
				t.Error(d)
			}
			if o := w.fire(s.Set); o.Action != protocol.Block {
				t.Errorf("the event was answered %s", o.Action)
			}
		})
	}
}
