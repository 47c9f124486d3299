package loader

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hookd-dev/hookd/loader/internal/settings"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

func FuzzSettingsJSON(f *testing.F) { fuzzSettings(f, "acai.json") }
func FuzzSettingsYAML(f *testing.F) { fuzzSettings(f, "acai.yaml") }
func FuzzSettingsTOML(f *testing.F) { fuzzSettings(f, "acai.toml") }

// fuzzSettings reads arbitrary text as a settings file. It must end in settings
// that keep every range, or in an error; whatever did not fit must be reported.
func fuzzSettings(f *testing.F, file string) {
	for _, tt := range settingsMistakes {
		if strings.HasSuffix(file, tt.format) {
			f.Add([]byte(tt.text))
		}
	}
	if file == "acai.json" {
		for _, tt := range entryMistakes {
			f.Add([]byte(`{"hooks": {"use": [` + tt.entry + `]}}`))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, layer := range []protocol.Layer{protocol.Managed, protocol.User, protocol.Project} {
			layerSettings, findings, err := settings.Decode(file, text, layer)
			var unreadable *schema.UnreadableError
			if err != nil && !errors.As(err, &unreadable) {
				t.Fatalf("error of another type: %v", err)
			}
			effective, more := settings.Merge(layerSettings)
			if !(effective.Hooks.Timeout >= 10e6 && effective.Hooks.Timeout <= 600e9 && effective.Hooks.Parallel >= 1 && effective.Hooks.Parallel <= 16) {
				t.Fatalf("out of range: %+v", effective.Hooks)
			}
			rejected := false
			for _, d := range layerSettings.Use {
				resolved, found := schema.Resolve(schema.DefaultsFor(&effective, layer, d.Hook, ""), d)
				more = append(more, found...)
				rejected = rejected || resolved.Rejected
				checkResolved(t, resolved)
			}
			if rejected && len(findings)+len(more) == 0 {
				t.Fatal("an entry was rejected and nothing reported")
			}
			for _, finding := range append(findings, more...) {
				if finding.Message == "" || finding.Remedy == "" || !utf8.ValidString(finding.Message) {
					t.Fatalf("a finding without message or remedy: %+v", finding)
				}
			}
		}
	})
}

func checkResolved(t *testing.T, r schema.Resolution) {
	t.Helper()
	h := r.Hook
	switch {
	case h.OnFailure == "" || h.Can == "" || h.Mode == "" || h.Run == "":
		t.Fatalf("unsettled: %+v", h)
	case !r.Rejected && (h.Timeout < 10e6 || h.Timeout > 600e9 || h.Priority < -1000 || h.Priority > 1000):
		t.Fatalf("out of range: %+v", h)
	case !r.Rejected && h.Required && (h.OnFailure == protocol.RuleContinue || h.Mode == protocol.Audit):
		t.Fatalf("required, yet may be missing: %+v", h)
	case r.Guards && (!r.Rejected || len(h.Events) == 0):
		t.Fatalf("guards nothing: %+v", r)
	}
}
