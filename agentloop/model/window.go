package model

import "strings"

// Window is the size of a model's context, in tokens, by the beginning of its
// name.
type Window struct {
	Prefix string
	Tokens int64
}

// ContextMax returns the size of a model's context window as the longest prefix
// in a table gives it, nil if no prefix fits.
func ContextMax(table []Window, name string) *int64 {
	var best *Window
	for i := range table {
		w := &table[i]
		if strings.HasPrefix(name, w.Prefix) && (best == nil || len(w.Prefix) > len(best.Prefix)) {
			best = w
		}
	}
	if best == nil {
		return nil
	}
	tokens := best.Tokens
	return &tokens
}
