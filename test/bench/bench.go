//go:build unix

package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/hookd-dev/hookd/executor/exechook"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/executor/process"
)

// bench is what all contests share.
type bench struct {
	options      *options
	folder       string // everything is made below it, and it is removed at the end
	floor        *floor
	noFloor      error // why there is none
	floorProgram string
	languages    map[string]*language
	contained    *process.Runtime  // as `hookd serve` runs hooks
	bare         *process.Runtime  // without containment: the process group only
	pool         *exechook.Pool    // of contained
	programs     map[string]string // hookd as it was built, by build tag
}

// entry is a contest that may be held: its preparation costs something, so it is
// only made when its turn comes.
type entry struct {
	name    string
	about   string
	prepare func(ctx context.Context) (*contest, error)
	// measure is in place of prepare for what is no race, such as memory.
	measure func(ctx context.Context) (*result, error)
}

// skip is why something cannot be measured on this machine.
type skip struct{ error }

func skipf(format string, args ...any) error { return skip{fmt.Errorf(format, args...)} }

func run(ctx context.Context, o *options) error {
	if o.list {
		for _, e := range (&bench{options: o}).entries() {
			fmt.Fprintf(o.out, "%-20s %s\n", e.name, e.about)
		}
		return nil
	}
	b, err := newBench(ctx, o)
	if err != nil {
		return err
	}
	results, err := b.holdAll(ctx)
	m := thisMachine(b)
	if err := errors.Join(err, b.close()); err != nil {
		return err
	}
	return report(o, m, results)
}

// report prints what came out, and writes it where it is asked for.
func report(o *options, m *machine, results []*result) error {
	printVerdicts(o.out, judge(results))
	if o.results != "" {
		var text bytes.Buffer
		if err := writeResults(&text, m, results); err != nil {
			return err
		}
		if err := os.WriteFile(o.results, text.Bytes(), 0o644); err != nil {
			return err
		}
	}
	if o.document == "" {
		return nil
	}
	return writeDocument(o.document, m, o.pace, results, time.Now())
}

func newBench(ctx context.Context, o *options) (*bench, error) {
	os.Unsetenv(hookenv.VarDepth) // below a hook nothing may be allowed
	folder, err := os.MkdirTemp("", "hookd-bench-")
	if err != nil {
		return nil, err
	}
	b := &bench{options: o, folder: folder, languages: map[string]*language{}, programs: map[string]string{}}
	if err := cmp.Or(b.build(ctx), context.Cause(ctx)); err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

func (b *bench) build(ctx context.Context) error {
	for _, l := range buildLanguages(ctx, b.folder) {
		b.languages[l.name] = l
		if l.missing != nil && ctx.Err() == nil {
			fmt.Fprintf(os.Stderr, "bench: no hooks in %s: %v\n", l.name, l.missing)
		}
	}
	var err error
	if b.floorProgram, b.noFloor = compile(ctx, b.folder, "floor.c", "floor", "-pthread"); b.noFloor != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		fmt.Fprintf(os.Stderr, "bench: no floor: %v\n", b.noFloor)
	} else if b.floor, err = startFloor(b.floorProgram, b.folder, b.folder, leastEnv()); err != nil {
		return err
	}
	if b.contained, err = process.New(process.Options{LongLived: true, Processes: 4096}); err != nil {
		return err
	}
	b.pool = exechook.NewPool(b.contained)
	b.bare, err = process.New(process.Options{Containment: process.Group})
	return err
}

func (b *bench) close() error {
	var errs []error
	if b.pool != nil {
		errs = append(errs, b.pool.Close())
	}
	for _, rt := range []*process.Runtime{b.contained, b.bare} {
		if rt != nil {
			errs = append(errs, rt.Close())
		}
	}
	if b.floor != nil {
		errs = append(errs, b.floor.close())
	}
	return errors.Join(append(errs, os.RemoveAll(b.folder))...)
}

// holdAll holds every contest that is asked for, and prints each as it ends.
func (b *bench) holdAll(ctx context.Context) ([]*result, error) {
	var results []*result
	for _, e := range b.entries() {
		if !b.options.run.MatchString(e.name) {
			continue
		}
		r, err := b.hold(ctx, &e)
		var why skip
		if errors.As(err, &why) {
			r, err = &result{skipped: why.Error()}, nil
		}
		if err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		r.contest, r.about = e.name, e.about
		printResult(b.options.out, r)
		results = append(results, r)
	}
	if len(results) == 0 {
		return nil, errors.New("-run names no contest; -list shows them")
	}
	return results, nil
}

func (b *bench) hold(ctx context.Context, e *entry) (*result, error) {
	if e.measure != nil {
		return e.measure(ctx)
	}
	c, err := e.prepare(ctx)
	if err != nil {
		return nil, err
	}
	c.name = e.name
	runtime.GC() // what the preparation left is not the contest's to collect
	r, err := c.hold(ctx, b.options.pace)
	if c.close != nil {
		if failed := c.close(); err == nil && failed != nil {
			err = fmt.Errorf("%s: %w", e.name, failed)
		}
	}
	return r, err
}

// theFloor is the floor, or why there is none.
func (b *bench) theFloor() (*floor, error) {
	if b.noFloor != nil {
		return nil, skip{b.noFloor}
	}
	return b.floor, nil
}

func (b *bench) language(name string) (*language, error) {
	l := b.languages[name]
	if l.missing != nil {
		return nil, skip{l.missing}
	}
	return l, nil
}

// program is the real hookd, built as releases are; the tag lean leaves the agent
// loop out.
func (b *bench) program(ctx context.Context, tag string) (string, error) {
	if path := b.programs[tag]; path != "" {
		return path, nil
	}
	path := filepath.Join(b.folder, "hookd"+tag)
	if err := buildGo(ctx, b.folder, path, "-tags", tag, "github.com/hookd-dev/hookd/cmd/hookd"); err != nil {
		return "", err
	}
	b.programs[tag] = path
	return path, nil
}

// engines are what a contest has opened, to be closed when it is over.
type engines []*engine

func (list *engines) open(ctx context.Context, p *project, b *bench) (*engine, error) {
	e, err := p.open(ctx, b.contained, b.pool)
	if err != nil {
		return nil, errors.Join(err, list.close())
	}
	*list = append(*list, e)
	return e, nil
}

func (list *engines) close() error {
	var errs []error
	for _, e := range *list {
		errs = append(errs, e.close())
	}
	return errors.Join(errs...)
}
