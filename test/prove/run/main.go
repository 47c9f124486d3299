// Command run proves the guarantees: it runs the tests of prove.Guarantees at
// full size, prints each row as it is done and writes docs/internal/guarantees.md. Its
// exit code is 1 if a guarantee does not hold, 3 if it cannot say.
//
// The variable ONLY names some of them: ONLY=G4,G10.
package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hookd-dev/hookd/test/prove"
)

const document = "docs/internal/guarantees.md"

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := run(ctx, os.Getenv("ONLY"))
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "prove:", err)
		code = 3
	}
	os.Exit(code)
}

func run(ctx context.Context, only string) (code int, err error) {
	chosen, err := choose(only)
	if err != nil {
		return 3, err
	}
	folder, err := os.MkdirTemp("", "hookd-prove-")
	if err != nil {
		return 3, err
	}
	defer os.RemoveAll(folder)
	began := time.Now()
	p := &prover{folder: folder, binaries: map[string]string{}}
	if err := p.build(ctx, chosen); err != nil {
		return 3, err
	}
	fmt.Printf("the tests are built after %s\n", time.Since(began).Round(time.Second))
	rows := p.proveAll(ctx, chosen)
	if ctx.Err() != nil {
		return 3, fmt.Errorf("interrupted")
	}
	held := 0
	for _, r := range rows {
		if r.Held {
			held++
		}
	}
	if err := writeDocument(document, rows); err != nil {
		return 3, err
	}
	fmt.Printf("%d of %d guarantees hold, after %s; written to %s\n", held, len(rows), time.Since(began).Round(time.Second), document)
	if held < len(rows) {
		return 1, nil
	}
	return 0, nil
}

// choose returns the guarantees named, or all.
func choose(only string) ([]*prove.Guarantee, error) {
	var chosen []*prove.Guarantee
	names := strings.FieldsFunc(only, func(r rune) bool { return r == ',' || r == ' ' })
	for _, name := range names {
		g := prove.Find(strings.ToUpper(name))
		if g == nil {
			return nil, fmt.Errorf("there is no guarantee %q: G1 to G%d are known", name, len(prove.Guarantees))
		}
		chosen = append(chosen, g)
	}
	if len(names) == 0 {
		for i := range prove.Guarantees {
			chosen = append(chosen, &prove.Guarantees[i])
		}
	}
	slices.SortStableFunc(chosen, func(a, b *prove.Guarantee) int { return cmp.Compare(number(a.ID), number(b.ID)) })
	return slices.Compact(chosen), nil
}

func number(id string) (n int) {
	fmt.Sscanf(id, "G%d", &n)
	return n
}
