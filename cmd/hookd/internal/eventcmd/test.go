package eventcmd

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/executor/process"
)

// testFlags are the flags of `hookd test`.
type testFlags struct{ watch, junit bool }

// tester runs tests beside hooks.
type tester struct{ *Commands }

// Test returns hookd test.
func (cmd *Commands) Test() *cobra.Command {
	var f testFlags
	c := &cobra.Command{
		Use:   "test [HOOK]...",
		Short: "Run the tests that lie beside hooks, and show what differs",
		Long: `Run the tests of hooks: the file HOOK.test.yaml beside a hook, or in the hooks folder
of its layer for an entry of settings. A test gives an event in short form and says
what must come out; the hook alone is asked, with its own limits, outside of records
and state. hookd schema test prints what a test may hold.

Without HOOK all hooks that are allowed are tested; one that waits to be allowed is
not run, and that is a failure. Naming a hook or its file is consent to run it as it
lies there, as with hookd try. --watch runs the tests again on each save.

Exit code 1: a test failed, could not be read, or was not run. 3: there are no tests.`,
		ValidArgsFunction: cmd.Project.CompleteHooks,
		RunE: func(c *cobra.Command, names []string) error {
			return (&tester{cmd}).test(c.Context(), names, f)
		},
	}
	c.Flags().BoolVar(&f.watch, "watch", false, "run them again on each save")
	c.Flags().BoolVar(&f.junit, "junit", false, "print JUnit XML for programs")
	cmd.Console.JSONFlag(c)
	cli.Exclusive(c, "junit", "watch")
	cli.Exclusive(c, "junit", "json")
	return c
}

func (cmd *tester) test(ctx context.Context, names []string, f testFlags) error {
	rt, err := cmd.Processes.Start(f.watch)
	if err != nil {
		return err
	}
	if !f.watch {
		_, err := cmd.testOnce(ctx, rt, names, f)
		return err
	}
	for {
		seen := time.Now()
		watched, err := cmd.testOnce(ctx, rt, names, f)
		if code := cli.ExitCode(0); err != nil && !errors.As(err, &code) {
			if ctx.Err() != nil || len(watched) == 0 {
				return err
			}
			cmd.Console.Report(err)
		}
		cmd.Console.Err.Print("%s\n", cmd.Console.Err.In(show.Quiet, "— waiting for the next save; Ctrl-C ends it"))
		if err := awaitAnySave(ctx, watched, seen); err != nil {
			return err
		}
	}
}

// testOnce runs all tests once and prints what came. It returns the files whose saving is
// a reason to run them again.
func (cmd *tester) testOnce(ctx context.Context, rt *process.Runtime, names []string, f testFlags) ([]string, error) {
	began := time.Now()
	found, err := cmd.findTests(ctx, rt, names)
	if err != nil {
		return found.watched(), err
	}
	if len(found.suites) == 0 && len(found.findings) == 0 {
		return found.watched(), noTests(found)
	}
	for _, s := range found.suites {
		if err := cmd.runSuite(ctx, s); err != nil {
			return found.watched(), err
		}
	}
	r := newTestReport(found, time.Since(began))
	switch {
	case cmd.Console.JSON:
		err = cmd.Console.PrintJSON(r)
	case f.junit:
		err = cmd.printJUnit(r)
	default:
		r.show(cmd.Console.Out)
	}
	if err == nil && !r.Passed {
		return found.watched(), cli.ExitCode(cli.ExitFailed)
	}
	return found.watched(), err
}

func noTests(found *foundTests) error {
	if len(found.untested) == 0 {
		return cli.Usage("no-tests", "there is nothing to test: no hooks", "hookd new guard.sh writes a hook and its tests")
	}
	return cli.Usage("no-tests", "there is nothing to test: no hook has tests", "write "+found.untested[0]+".test.yaml beside the hook; docs/hooks.md shows how")
}
