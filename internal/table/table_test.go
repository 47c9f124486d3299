package table_test

import (
	"strings"
	"testing"

	"github.com/hookd-dev/hookd/internal/table"
)

func TestWordsAreFoundWholeOnly(t *testing.T) {
	const words = "at cat catalog x [ [[ end"
	for _, word := range append(strings.Fields(words), "", " ", "a", "ca", "log", "catal", "cat catalog", "at ", " at", "en", "nd", "[[[", "x [") {
		want := false
		for _, w := range strings.Fields(words) {
			want = want || w == word
		}
		if got := table.Words(words).Has(word); got != want {
			t.Errorf("Has(%q) is %v", word, got)
		}
	}
	if table.Words("").Has("") || table.Words("").Has("a") {
		t.Error("no words have a word")
	}
}
