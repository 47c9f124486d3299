package schema

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-playground/validator/v10"
	"github.com/google/go-cmp/cmp"
)

// The checks of tags are ours, because linking validator/v10 costs every start
// of `hookd fire` more than the whole rest of a load. The library is what they
// are held against: the same tag must fail at the same place.
func TestChecksAreThoseOfTheLibrary(t *testing.T) {
	library := validator.New(validator.WithRequiredStructEnabled())
	library.RegisterTagNameFunc(jsonName)
	library.RegisterCustomTypeFunc(func(d reflect.Value) any { return time.Duration(d.Int()) }, Duration(0))
	for name, form := range forms {
		if err := library.RegisterValidation(name, func(f validator.FieldLevel) bool { return form.holds(f.Field().String()) }); err != nil {
			t.Fatal(err)
		}
	}
	compared, failed := 0, 0
	for _, kind := range []reflect.Type{reflect.TypeFor[Entry](), reflect.TypeFor[MatchEntry](), reflect.TypeFor[Price]()} {
		for i := range kind.NumField() {
			for _, value := range probes(kind.Field(i).Type) {
				target := reflect.New(kind)
				target.Elem().Field(i).Set(value)
				want := []string{}
				if err := library.Struct(target.Interface()); err != nil {
					for _, e := range err.(validator.ValidationErrors) {
						_, below, _ := strings.Cut(e.Namespace(), ".")
						want = append(want, below+" "+e.Tag())
					}
				}
				got := []string{}
				for _, v := range violations(target.Elem(), "") {
					got = append(got, v.path+" "+v.failed.name)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("%s.%s = %.60v: %.500s", kind.Name(), kind.Field(i).Name, value, diff)
				}
				compared++
				failed += len(got)
			}
		}
	}
	if compared < 300 || failed < 150 {
		t.Errorf("%d values, %d failures: too few to say anything", compared, failed)
	}
}

// probes are values at and beyond the bounds of any tag, for a field of a type.
func probes(t reflect.Type) (values []reflect.Value) {
	add := func(v any) { values = append(values, reflect.ValueOf(v).Convert(t)) }
	words := []string{"", "x", "observe", "main", "once", "tools", "enforce", "hookd", "a/b", "..", "/x", "1A", "é", "/(/",
		strings.Repeat("é", 200), strings.Repeat("é", 201), strings.Repeat("a", 255), strings.Repeat("a", 256), strings.Repeat("a", 10_001)}
	switch t.Kind() {
	case reflect.Pointer:
		values = append(values, reflect.Zero(t))
		for _, inner := range probes(t.Elem()) {
			p := reflect.New(t.Elem())
			p.Elem().Set(inner)
			values = append(values, p)
		}
	case reflect.String:
		for _, word := range words {
			add(word)
		}
	case reflect.Bool:
		add(true)
	case reflect.Int, reflect.Int64:
		for _, n := range []int64{-1 << 62, -1001, -1000, 0, 1, 1000, 1001, int64(10*time.Millisecond) - 1, int64(10 * time.Millisecond), int64(10 * time.Minute), int64(10*time.Minute) + 1} {
			add(n)
		}
	case reflect.Float64:
		for _, f := range []float64{-0.1, 0, 0.5, 1e6, 1e6 + 1} {
			add(f)
		}
	case reflect.Slice:
		values = append(values, reflect.Zero(t))
		for _, n := range []int{0, 1, 100, 101, 1000, 1001} {
			add(make([]string, n))
		}
		for _, word := range words {
			add([]string{"PATH", word})
		}
		add([]string{strings.Repeat("a", 131_073)})
	case reflect.Struct:
		for i := range t.NumField() {
			for _, inner := range probes(t.Field(i).Type) {
				s := reflect.New(t).Elem()
				s.Field(i).Set(inner)
				values = append(values, s)
			}
		}
	}
	return values
}
