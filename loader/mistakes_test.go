package loader

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/loader/internal/settings"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/test/prove"
)

// lines writes each finding on one line.
func lines(findings []schema.Finding) []string {
	var all []string
	for _, f := range findings {
		all = append(all, f.String())
	}
	return all
}

// Each mistake stands in the middle one of three entries, on line 3.
func TestMistakesInEntries(t *testing.T) {
	for _, tt := range entryMistakes {
		t.Run(tt.name, func(t *testing.T) {
			text := "{\"hooks\": {\"use\": [\n" +
				"{\"name\": \"a.sh\", \"events\": [\"tool-call-start\"]},\n" + tt.entry + ",\n" +
				"{\"name\": \"z.sh\", \"events\": [\"tool-call-start\"]}\n]}}"
			layer, findings, err := settings.Decode("acai.json", []byte(text), protocol.Project)
			if err != nil {
				t.Fatal(err)
			}
			settings, more := settings.Merge(layer)
			findings = append(findings, more...)
			var got schema.Resolution
			ready := []string{}
			for _, d := range layer.Use {
				r, found := schema.Resolve(schema.DefaultsFor(&settings, protocol.Project, d.Hook, ""), d)
				findings = append(findings, found...)
				if !r.Rejected {
					ready = append(ready, d.Hook)
				} else {
					got = r
				}
			}
			if diff := cmp.Diff([]string{tt.want}, lines(findings)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			others := slices.Contains(ready, "a.sh") && slices.Contains(ready, "z.sh")
			if rejected := len(ready) == 2; !others || rejected != strings.HasPrefix(tt.want, "error") {
				t.Errorf("ready: %v; one bad entry must not disable another, and must not run itself", ready)
			}
			if got.Guards != tt.guards {
				t.Errorf("guards = %v, want %v: %+v", got.Guards, tt.guards, got.Hook)
			}
		})
	}
	prove.Figure(t, "G12", "%d mistakes in entries, each found with its place and remedy, the entries beside it ready", len(entryMistakes))
}

type entryMistake struct {
	name   string
	entry  string
	want   string
	guards bool // its gates fail
}

func TestMistakesInSettings(t *testing.T) {
	for _, tt := range settingsMistakes {
		t.Run(tt.name, func(t *testing.T) {
			file := "acai." + tt.format
			layer, findings, err := settings.Decode(file, []byte(tt.text), tt.layer)
			var unreadable *schema.UnreadableError
			if err != nil {
				unreadable = err.(*schema.UnreadableError)
				findings = append(findings, unreadable.Finding())
			}
			_, more := settings.Merge(layer)
			if diff := cmp.Diff([]string{tt.want}, lines(append(findings, more...))); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if (unreadable != nil) != strings.HasPrefix(tt.want, "error settings-unreadable") {
				t.Errorf("unreadable: %v", err)
			}
		})
	}
	if n := len(entryMistakes) + len(settingsMistakes); n < 60 {
		t.Errorf("only %d mistakes", n)
	}
	prove.Figure(t, "G12", "%d mistakes in settings, each found with its place and remedy", len(settingsMistakes))
}

type settingsMistake struct {
	name   string
	layer  protocol.Layer
	format string
	text   string
	want   string
}
