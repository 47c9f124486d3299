// Package prove is the one mechanism behind the guarantees of hookd. A
// guarantee is a row of [Guarantees]; its proofs are tests of the packages whose
// promise it is. `make test` runs each at a small size; `make prove` runs them
// at the size promised, collects what they measured and writes
// docs/internal/guarantees.md.
//
// A proof is a test that asks [Size] how much to do and says with [Figure] what
// it measured, as the last thing it does.
package prove

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
)

// Variables of the environment of a proof: the first, not empty, asks for the
// full size; the second names the file that figures are appended to.
const (
	FullVariable = "HOOKD_PROVE"
	FileVariable = "HOOKD_PROVE_FILE"
)

// Full reports whether the proofs run at the size that is promised.
func Full() bool { return os.Getenv(FullVariable) != "" }

// Size is how much a proof does: short in everyday tests, full for the promise.
func Size(short, full int) int {
	if Full() {
		return full
	}
	return short
}

// Measured is what one proof has to say of one guarantee.
type Measured struct {
	ID     string // of the guarantee
	Test   string
	Figure string
}

// Figure says what a proof of the guarantee measured. It is the last thing that
// the proof does, so that a proof without a figure has not come to its end.
func Figure(t testing.TB, id, format string, args ...any) {
	t.Helper()
	m := Measured{ID: id, Test: t.Name(), Figure: fmt.Sprintf(format, args...)}
	t.Logf("%s: %s", id, m.Figure)
	if Find(id) == nil {
		t.Errorf("there is no guarantee %s", id)
	}
	path := os.Getenv(FileVariable)
	if path == "" {
		return
	}
	line, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(append(line, '\n')); err != nil { // one write, so lines of several tests stay whole
		t.Fatal(err)
	}
}
