package model

import (
	"context"
	"iter"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/patterns"
)

// Price is what a model costs, in USD per million tokens.
type Price struct {
	Model  patterns.Pattern // its name: exact, glob or /RE2/
	Input  float64
	Output float64
	Cached *float64 // of input tokens read from a cache; nil: as Input
}

// Priced fills in the cost of each call of a model, where the model does not
// tell it itself. An exact name counts before other patterns, and of those the
// first; a model that none names, and a call that does not tell its tokens, have
// an unknown cost, never none.
func Priced(m Model, prices []Price) Model {
	if len(prices) == 0 {
		return m
	}
	return &priced{m, prices}
}

type priced struct {
	Model
	prices []Price
}

func (p *priced) Generate(ctx context.Context, request Request) iter.Seq2[Chunk, error] {
	name := request.Model // hooks may have chosen another one than the model's own
	if name == "" {
		name = p.Name()
	}
	price := priceOf(name, p.prices)
	if price == nil {
		return p.Model.Generate(ctx, request)
	}
	return func(yield func(Chunk, error) bool) {
		for chunk, err := range p.Model.Generate(ctx, request) {
			if u := chunk.Usage; u != nil && u.CostUSD == nil {
				told := *u
				told.CostUSD = price.Cost(u)
				chunk.Usage = &told
			}
			if !yield(chunk, err) {
				return
			}
		}
	}
}

func priceOf(name string, prices []Price) (found *Price) {
	for i := range prices {
		switch p := &prices[i]; {
		case !p.Model.Match(name):
		case p.Model.Exact:
			return p
		case found == nil:
			found = p
		}
	}
	return found
}

// Cost is what a call costs in USD, nil if it does not tell its tokens. Cached
// tokens are part of the input tokens.
func (p *Price) Cost(u *protocol.CallUsage) *float64 {
	if u.InputTokens == nil || u.OutputTokens == nil {
		return nil
	}
	const million = 1_000_000
	cost := (float64(*u.InputTokens)*p.Input + float64(*u.OutputTokens)*p.Output) / million
	if p.Cached != nil && u.CachedTokens != nil {
		cost += float64(min(*u.CachedTokens, *u.InputTokens)) * (*p.Cached - p.Input) / million
	}
	return &cost
}
