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

func TestTheFirstRowOfANameCounts(t *testing.T) {
	rows := table.Rows[int]{{"a", 1}, {"b", 2}, {"a", 3}}
	if is, known := rows.Get("a"); is != 1 || !known {
		t.Error("a is", is, known)
	}
	if is, known := rows.Get("c"); is != 0 || known || rows.Of("c") != 0 || rows.Of("b") != 2 {
		t.Error("c is", is, known)
	}
}
