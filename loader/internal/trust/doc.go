// Package trust decides what may run. It runs nothing.
//
// [Decide] (decide.go) compares what a load found with what is recorded about it. It is
// a pure function on values: the state of a thing, what lets it run, or why it does not.
// Hooks, resources, settings and the plan that a person is shown all ask it.
//
// settings.go decides which settings of a project are in force: exactly those that a
// person allowed. layers.go reads and merges the settings of all scopes around it. A
// [Decider] carries out what was decided about hooks (hooks.go) and about skills, recipes
// and servers (resources.go). What is as it was allowed runs from its private copy; what changed
// or vanished stands as a failure (changed.go); what nobody decided about is absent,
// or fails if it says that it guards something. The result is a [Verdict]
// (verdict.go), and [Allowed] is leave to run, which nothing else can give. pins.go
// holds a hook to the interpreter that a person saw.
//
// A [Store] keeps the private copies (store.go), one folder per bundle hash, and
// checks them before each use. A view (view.go) is a copy among links to what lies
// beside the original, for hooks that run in place. The copies are a promise, not a
// cache: what was allowed is what runs.
//
// The other files are the person's side: plan.go and planitem.go show
// what would run besides what was allowed, allow.go puts a decision into the records,
// and maydecide.go refuses a decision that a hook or an agent run would take: below them
// nothing is ever granted.
package trust
