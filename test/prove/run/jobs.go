package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hookd-dev/hookd/test/prove"
)

// prover runs proofs. Its folder is gone afterwards.
type prover struct {
	folder   string
	binaries map[string]string // of tests, by package
	print    sync.Mutex
}

// row is what is known of one guarantee.
type row struct {
	*prove.Guarantee
	Held   bool
	Figure string
	Took   time.Duration
}

// build compiles the tests of each package once.
func (p *prover) build(ctx context.Context, chosen []*prove.Guarantee) error {
	for _, g := range chosen {
		for _, test := range g.Tests {
			if p.binaries[test.Package] != "" {
				continue
			}
			binary := filepath.Join(p.folder, strings.ReplaceAll(test.Package, "/", "-")+".test")
			out, err := exec.CommandContext(ctx, "go", "test", "-c", "-o", binary, "./"+test.Package).CombinedOutput()
			if err != nil {
				return fmt.Errorf("building the tests of %s: %v\n%s", test.Package, err, out)
			}
			p.binaries[test.Package] = binary
		}
	}
	return nil
}

// sideBySide is how many guarantees are proved at once, where none needs the
// machine for itself.
const sideBySide = 2

// proveAll proves the guarantees, first those that may run side by side.
func (p *prover) proveAll(ctx context.Context, chosen []*prove.Guarantee) []row {
	rows := make([]row, len(chosen))
	var together sync.WaitGroup
	places := make(chan struct{}, sideBySide)
	for i, g := range chosen {
		if g.Alone {
			continue
		}
		places <- struct{}{}
		together.Go(func() {
			rows[i] = p.prove(ctx, g)
			<-places
		})
	}
	together.Wait()
	for i, g := range chosen {
		if g.Alone {
			rows[i] = p.prove(ctx, g)
		}
	}
	return rows
}

// prove proves one guarantee and prints its row.
func (p *prover) prove(ctx context.Context, g *prove.Guarantee) row {
	began := time.Now()
	r := row{Guarantee: g, Held: true}
	var figures, faults []string
	for _, test := range g.Tests {
		if ctx.Err() != nil {
			break
		}
		said, fault := p.test(ctx, g, test)
		figures = append(figures, said...)
		if fault != "" {
			faults = append(faults, fault)
		}
	}
	if len(g.Fuzz) > 0 && ctx.Err() == nil {
		said, fault := fuzzAll(ctx, g.Fuzz)
		figures = append(figures, said)
		if fault != "" {
			faults = append(faults, fault)
		}
	}
	if ctx.Err() != nil {
		return r
	}
	r.Took = time.Since(began)
	r.Held, r.Figure = len(faults) == 0, strings.Join(figures, "; ")
	p.print.Lock()
	defer p.print.Unlock()
	word := "holds"
	if !r.Held {
		word = "DOES NOT HOLD"
	}
	fmt.Printf("%-4s %s: %s (%s)\n     %s\n", g.ID, word, g.Promise, r.Took.Round(100*time.Millisecond), r.Figure)
	for _, fault := range faults {
		fmt.Printf("%s\n", fault)
	}
	return r
}

// test runs one test and returns its figures. The fault is "" if it passed and
// measured something.
func (p *prover) test(ctx context.Context, g *prove.Guarantee, test prove.Test) (figures []string, fault string) {
	file := filepath.Join(p.folder, g.ID+"-"+test.Name)
	cmd := exec.CommandContext(ctx, p.binaries[test.Package], "-test.v", "-test.timeout=35m", fmt.Sprint("-test.parallel=", cmp.Or(g.AtOnce, 6)), "-test.run=^"+test.Name+"$")
	cmd.Dir = test.Package
	cmd.Env = append(os.Environ(), prove.FullVariable+"=1", prove.FileVariable+"="+file)
	out, err := cmd.CombinedOutput()
	raw, _ := os.ReadFile(file)
	for line := range bytes.Lines(raw) {
		var m prove.Measured
		if json.Unmarshal(line, &m) == nil && m.ID == g.ID {
			figures = append(figures, m.Figure)
		}
	}
	switch {
	case err != nil:
		return figures, fmt.Sprintf("     %s in %s: %v\n%s", test.Name, test.Package, err, complaints(out))
	case !bytes.Contains(out, []byte("--- PASS: "+test.Name)):
		return figures, fmt.Sprintf("     %s in %s was not run\n%s", test.Name, test.Package, complaints(out))
	case len(figures) == 0:
		return figures, fmt.Sprintf("     %s in %s measured nothing", test.Name, test.Package)
	}
	return figures, ""
}

// complaints are the lines of a test's output that say what was wrong.
func complaints(out []byte) string {
	var kept []string
	for line := range strings.Lines(string(out)) {
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || strings.HasPrefix(trimmed, "===") || strings.HasPrefix(trimmed, "--- PASS") || strings.HasPrefix(trimmed, "--- SKIP") {
			continue
		}
		if kept = append(kept, "     "+strings.TrimRight(line, "\n")); len(kept) == 40 {
			kept = append(kept, "     …")
			break
		}
	}
	return strings.Join(kept, "\n")
}

var executed = regexp.MustCompile(`execs: (\d+)`)

// fuzzAll runs fuzz targets for FUZZTIME each, 15 seconds if that is not set.
func fuzzAll(ctx context.Context, targets []prove.Test) (figure, fault string) {
	duration := os.Getenv("FUZZTIME")
	if duration == "" {
		duration = "15s"
	}
	inputs := 0
	for _, target := range targets {
		out, err := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-fuzz", "^"+target.Name+"$", "-fuzztime", duration, "-fuzzminimizetime", "10x", "-parallel", "1", "./"+target.Package).CombinedOutput()
		counts := executed.FindAllSubmatch(out, -1)
		if len(counts) > 0 {
			n, _ := strconv.Atoi(string(counts[len(counts)-1][1]))
			inputs += n
		}
		if err != nil || len(counts) == 0 {
			fault += fmt.Sprintf("     %s in %s: %v\n%s", target.Name, target.Package, err, complaints(out))
		}
	}
	return fmt.Sprintf("%s of fuzzing in each of %d targets, %d inputs", duration, len(targets), inputs), fault
}
