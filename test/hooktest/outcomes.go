package hooktest

import (
	"context"
	"reflect"
	"testing"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// Fire fires an event and returns the outcome; an error fails the test.
func Fire(t testing.TB, gate interface {
	Fire(context.Context, protocol.Event) (protocol.Outcome, error)
}, ev protocol.Event) protocol.Outcome {
	t.Helper()
	outcome, err := gate.Fire(context.Background(), ev)
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

// Runs returns each run of an outcome as the hook's name and what it came to.
func Runs(o protocol.Outcome) (out []string) {
	for _, r := range o.Runs {
		what := string(r.Action)
		switch {
		case r.Skipped != "":
			what = string(r.Skipped)
		case r.Failure != "":
			what = string(r.Failure)
		case r.Would != "":
			what = "would-" + string(r.Would)
		}
		out = append(out, r.Hook+":"+what)
	}
	return out
}

// Settings returns the default settings, with those of settings that are not zero in
// their place.
func Settings(settings schema.HookSettings) schema.HookSettings {
	whole := schema.DefaultSettings().Hooks
	setNonZero(reflect.ValueOf(&whole).Elem(), reflect.ValueOf(settings))
	return whole
}

func setNonZero(onto, from reflect.Value) {
	for i := range from.NumField() {
		switch field := from.Field(i); {
		case field.Kind() == reflect.Struct:
			setNonZero(onto.Field(i), field)
		case !field.IsZero():
			onto.Field(i).Set(field)
		}
	}
}
