package loader

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/test/prove"
)

// line writes a finding on one line: severity code file:line path (hook):
// message -> remedy.
func line(f schema.Finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s", f.Severity, f.Code, f.File)
	if f.Line != nil {
		fmt.Fprintf(&b, ":%d", *f.Line)
	}
	if f.Path != nil {
		fmt.Fprintf(&b, " %s", *f.Path)
	}
	if f.Hook != nil {
		fmt.Fprintf(&b, " (%s)", *f.Hook)
	}
	return fmt.Sprintf("%s: %s -> %s", b.String(), f.Message, f.Remedy)
}

func lines(findings []schema.Finding) []string {
	var all []string
	for _, f := range findings {
		all = append(all, line(f))
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
			layer, findings, err := DecodeSettings("acai.json", []byte(text), protocol.Project)
			if err != nil {
				t.Fatal(err)
			}
			settings, more := MergeSettings(layer)
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
			layer, findings, err := DecodeSettings(file, []byte(tt.text), tt.layer)
			var unreadable *schema.UnreadableError
			if err != nil {
				unreadable = err.(*schema.UnreadableError)
				findings = append(findings, unreadable.Finding())
			}
			_, more := MergeSettings(layer)
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
