package model

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/protocol/patterns"
)

func pattern(t *testing.T, text string) patterns.Pattern {
	t.Helper()
	p, err := patterns.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPriced(t *testing.T) {
	cheap := 0.5
	prices := []Price{
		{Model: pattern(t, "big-*"), Input: 3, Output: 15, Cached: &cheap},
		{Model: pattern(t, "*"), Input: 100, Output: 100},
		{Model: pattern(t, "big-2"), Input: 4, Output: 20},
	}
	for _, c := range []struct {
		name, usage string
		prices      []Price
		want        float64 // negative: unknown
	}{
		{"big-1", "{inputTokens: 1000000, outputTokens: 100000}", prices, 4.5},
		{"big-1", "{inputTokens: 1000000, outputTokens: 0, cachedTokens: 1000000}", prices, 0.5},
		{"big-1", "{inputTokens: 1000000, outputTokens: 0, cachedTokens: 9000000}", prices, 0.5},
		{"big-2", "{inputTokens: 1000000, outputTokens: 0, cachedTokens: 500000}", prices, 4},
		{"other", "{inputTokens: 10, outputTokens: 0}", prices, 0.001},
		{"other", "{inputTokens: 10, outputTokens: 0}", prices[:1], -1},
		{"big-1", "{inputTokens: 10, outputTokens: 0, costUsd: 7}", prices, 7},
		{"big-1", "{inputTokens: 10}", prices, -1},
		{"big-1", "{inputTokens: 10, outputTokens: 0}", nil, -1},
	} {
		scripted, err := Parse("s.yaml", []byte("name: "+c.name+"\nturns:\n- text: hi\n  usage: "+c.usage))
		if err != nil {
			t.Fatal(err)
		}
		got := -1.0
		m := Priced(scripted, c.prices)
		for chunk, err := range m.Generate(t.Context(), Request{Model: m.Name()}) {
			if err != nil {
				t.Fatal(err)
			}
			if chunk.Type == Usage && chunk.Usage.CostUSD != nil {
				got = *chunk.Usage.CostUSD
			}
		}
		if math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s %s: %v, want %v", c.name, c.usage, got, c.want)
		}
		if diff := cmp.Diff(c.name, m.Name()); diff != "" {
			t.Error(diff)
		}
	}
}
