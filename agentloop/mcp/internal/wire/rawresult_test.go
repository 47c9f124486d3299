package wire

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestPlaceholder: what the SDK is to answer itself, and small results, reach it as
// they are.
func TestPlaceholder(t *testing.T) {
	big := strings.Repeat("x", large)
	for _, c := range []struct {
		method, raw string
		same        bool
	}{
		{"tools/call", `{"content":[{"type":"text","text":"` + big + `"}]}`, false},
		{"tools/call", `{"content":[]}`, true},
		{"tools/list", `{"tools":[],"x":"` + big + `"}`, true},
		{"tools/call", `{"resultType":"input_required","inputRequests":{},"x":"` + big + `"}`, true},
	} {
		got := string(placeholder(c.method, []byte(c.raw)))
		if (got == c.raw) != c.same || !json.Valid([]byte(got)) {
			t.Errorf("%s %.60s: %.60s", c.method, c.raw, got)
		}
	}
}
