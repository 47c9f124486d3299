//go:build unix

package loader_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/loader"
)

// A project's hook does not run before a person allowed it, and then runs from a
// private copy.
func Example() {
	os.Unsetenv("HOOK_DEPTH") // below a hook nothing is ever allowed
	top, err := os.MkdirTemp("", "loader-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(top)
	project, home, state := filepath.Join(top, "project"), filepath.Join(top, "home"), filepath.Join(top, "state")
	hooks := filepath.Join(project, ".acai", "hooks")
	for _, dir := range []string{hooks, home, state} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			log.Fatal(err)
		}
	}
	guard := "#!/bin/sh\n# hook: events=tool-call-start can=block\n"
	if err := os.WriteFile(filepath.Join(hooks, "guard.sh"), []byte(guard), 0o700); err != nil {
		log.Fatal(err)
	}
	opts := loader.Options{Project: project, Home: home, StateDir: state}
	ctx := context.Background()
	show := func() {
		snapshot, err := loader.Load(ctx, opts)
		if err != nil {
			log.Fatal(err)
		}
		for _, hook := range snapshot.Hooks {
			fmt.Println(hook.Name, hook.Status, hook.Status == executor.Ready && !hook.InPlace)
		}
	}
	show()
	trust, err := loader.OpenTrust(opts)
	if err != nil {
		log.Fatal(err)
	}
	plan, err := trust.Plan(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, item := range plan.Items {
		fmt.Println("would run:", item.Hook, item.State, item.Guard)
	}
	if err := trust.Allow(plan); err != nil {
		log.Fatal(err)
	}
	show()
	// Output:
	// guard.sh untrusted false
	// would run: guard.sh new true
	// guard.sh ready true
}
