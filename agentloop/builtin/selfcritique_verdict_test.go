package builtin

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadVerdict(t *testing.T) {
	yes, no := &verdict{Approved: true, Feedback: "No reason was given."}, func(why string) *verdict { return &verdict{Feedback: why} }
	for text, want := range map[string]*verdict{
		`{"approved": true}`: yes,
		"```json\n{\"approved\": false, \"feedback\": \"x\"}\n```": no("x"),
		`Here: {"approved": false, "feedback": " x "}. Bye.`:       no("x"),
		`{"approved": false} and then {"approved": true}`:          yes,
		`{"approved": true, "feedback": {"approved": false}}`:      yes,
		`{"verdict": {"approved": false, "feedback": "in it"}}`:    nil,
		`{"Approved": "FALSE", "Feedback": ["a", 3, "b"]}`:         no("a\nb"),
		`{"approved": "perhaps"}`:                                  nil,
		`{"approved": 1}`:                                          nil,
		`{"approved": null}`:                                       nil,
		`{"approved": fal`:                                         nil,
		`{ {"approved": true}`:                                     yes,
		`approved`:                                                 nil,
		``:                                                         nil,
		`[{"approved": true}]`:                                     yes,
		strings.Repeat("{", 40_000) + `{"approved": false}`:        no("No reason was given."),
		`{"approved": false}` + strings.Repeat(" ", maxJudgement):  nil,
		`{"approved": false, "feedback": "` + strings.Repeat("é", maxFeedback) + `"}`:         no(strings.Repeat("é", maxFeedback/2) + " …"),
		`{"approved": false, "feedback": "x", "approved": true, "feedback": "said it twice"}`: {Approved: true, Feedback: "said it twice"},
	} {
		got, ok := readVerdict(text)
		if want == nil {
			if ok {
				t.Errorf("%.60q is read as %+v", text, got)
			}
			continue
		}
		if diff := cmp.Diff(*want, got); diff != "" || !ok {
			t.Errorf("%.60q: ok=%v %s", text, ok, diff)
		}
	}
}

func FuzzReadVerdict(f *testing.F) {
	f.Add(`{"approved": false, "feedback": "x"}`)
	f.Add("words {\"a\": {\"Approved\": \"true\"}} {")
	f.Add("{\"approved\":tru\xff")
	f.Fuzz(func(t *testing.T, text string) {
		v, ok := readVerdict(text)
		if ok && (v.Feedback == "" || len(v.Feedback) > maxFeedback+len(" …")) {
			t.Fatalf("%+v", v)
		}
		if ok && !strings.Contains(strings.ToLower(text), "approved") && !strings.Contains(text, `\u`) {
			t.Fatalf("a verdict out of nothing: %q", text)
		}
		// What stands after everything else counts.
		if v, ok := readVerdict(text + "\n" + `{"approved": false}`); ok && v.Approved && !strings.Contains(text, "{") {
			t.Fatalf("%q hides a verdict", text)
		}
	})
}
