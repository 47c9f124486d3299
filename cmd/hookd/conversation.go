//go:build !lean

package main

import (
	"context"
	"errors"
	"time"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/agentloop/recipe"
	"github.com/hookd-dev/hookd/agentloop/store"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/schema"
)

// runFlags are what hookd run is told on the command line.
type runFlags struct {
	model  modelChoice
	system string
	follow bool   // go on with the newest session of the project
	resume string // go on with this one
	recipe string // run this recipe instead of a prompt
	args   map[string]string
	allow  allowFlag
	schema string // file with the JSON Schema of the final answer, "" for none
}

// resumes reports whether the run goes on with a session.
func (f *runFlags) resumes() bool { return f.follow || f.resume != "" }

// conversation is a session with an agent in it: the hooks of its project, the
// loop, and the file that keeps it.
type conversation struct {
	a        *app
	engine   *engine.Engine
	settings *schema.Settings
	model    model.Model
	choice   *modelChoice
	session  *store.Session
	loop     *agentloop.Loop
	recipes  *recipe.Library
	aside    func(func()) // runs a print so that no other output mixes with it
}

// converse opens the session that the flags ask for. The approver may be nil.
func (a *app) converse(ctx context.Context, flags *runFlags, approver agentloop.Approver, late engine.Late) (*conversation, error) {
	resumed, err := a.chosenSession(ctx, flags)
	if err != nil {
		return nil, err
	}
	reviewed, err := a.reviewGuards(ctx)
	if err != nil {
		return nil, err
	}
	e, err := a.opener.Open(ctx, engine.Options{LongLived: true, GuardsReviewed: reviewed, Late: late})
	if err != nil {
		return nil, err
	}
	settings := *e.Settings() // a snapshot's own do not change
	c := &conversation{a: a, engine: e, settings: &settings, choice: &flags.model, aside: e.Aside}
	if c.model, err = a.chooseModel(c.choice, c.settings); err != nil {
		return nil, err
	}
	if c.session, err = a.openSession(e, resumed, model.Origin(c.model)); err != nil {
		return nil, err
	}
	options, err := a.loopOptions(e, c.settings, c.model, c.session, flags)
	if err != nil {
		return nil, errors.Join(err, c.session.Close())
	}
	if c.settings.Agent.Approval.Mode != "deny" { // else nobody is asked, whatever the question is about
		options.Approver = approver
	}
	if resumed != "" {
		options.Source = "resume"
	}
	c.recipes = options.Recipes
	if err := c.checkRecipe(flags); err != nil {
		return nil, errors.Join(err, c.abandon(resumed))
	}
	if c.loop, err = agentloop.New(options); err != nil {
		return nil, errors.Join(newFault(err), c.session.Close())
	}
	return c, nil
}

// newFault says why there is no loop for a session.
func newFault(err error) *cli.Fault {
	if _, isDamage := errors.AsType[*store.DamageError](err); isDamage {
		return sessionFault(err)
	}
	return cli.Failed("run", err, "")
}

// chosenSession is the id of the session to go on with, "" for a new one. It
// keeps the project it began with: where no other was asked for, that one rules
// the run.
func (a *app) chosenSession(ctx context.Context, flags *runFlags) (string, error) {
	if !flags.resumes() {
		return "", nil
	}
	state, err := places.StateDir()
	if err != nil {
		return "", err
	}
	folder := places.Conversations(state)
	if flags.resume == "" {
		here, err := a.sessionsHere(ctx, folder, false)
		if err != nil {
			return "", err
		}
		for i := range here {
			if here[i].Damage == nil {
				a.passedOver(here[:i], here[i].ID)
				a.goesOn(&here[i])
				return here[i].ID, nil
			}
		}
		return "", cli.Usage("no-session", "there is no session in this project to go on with", "hookd sessions list --all shows those of others")
	}
	id, err := findSession(folder, flags.resume)
	if err != nil {
		return "", err
	}
	header, err := store.HeaderOf(folder, id)
	if err != nil {
		return "", sessionFault(err)
	}
	return id, a.keepProject(ctx, id, header.Project)
}

// goesOn says which session it is that goes on: it was not named.
func (a *app) goesOn(s *store.Info) {
	text := "session " + s.ID + " goes on, last used " + s.Last.Local().Format("2006-01-02 15:04") + " (" + age(time.Since(s.Last)) + ")"
	if first := show.Shorten(show.FirstLine(s.First), 60); first != "" {
		text += ": " + first
	}
	a.console.Note(text, "")
}

// passedOver says that the session that was used last is not the one that goes on.
func (a *app) passedOver(damaged []store.Info, id string) {
	if len(damaged) > 0 {
		d := &damaged[0]
		a.console.Note("session "+d.ID+" is damaged: "+d.Path+": "+d.Damage.Error()+"; an earlier one goes on: "+id, damageHint(d.ID))
	}
}

func (a *app) keepProject(ctx context.Context, id, project string) error {
	here, err := a.project.Root(ctx)
	if err != nil || here == project || project == "" {
		return err
	}
	if a.project.Folder != "" {
		return cli.Usage("other-project", "session "+id+" belongs to the project "+project, "leave --project out")
	}
	a.console.Note("session "+id+" goes on in its project, "+project, "")
	a.project.Folder = project
	return nil
}

// openSession opens the file of a session that is gone on with, or begins one.
func (a *app) openSession(e *engine.Engine, id, modelName string) (*store.Session, error) {
	folder := places.Conversations(e.StateDir)
	if id == "" {
		return a.newSession(e, folder, modelName), nil
	}
	session, err := store.Open(folder, id)
	if err != nil {
		return nil, sessionFault(err)
	}
	session.OnWriteError(func(err error) { a.unkept(e, err) })
	if session.State().Model == modelName {
		return session, nil
	}
	if err := session.Append(store.Entry{Kind: store.Model, Text: modelName}); err != nil {
		return nil, errors.Join(cli.Failed("session", err, ""), session.Close())
	}
	return session, nil
}

// newSession begins a session. One that no folder can keep is as good as any other
// until it ends.
func (a *app) newSession(e *engine.Engine, folder, modelName string) *store.Session {
	header := store.Header{Project: e.Project(), Model: modelName}
	if e.StateDir == "" { // that nothing is kept was said
		return store.InMemory(header)
	}
	session, err := store.Create(folder, "", header)
	if err != nil {
		a.unkept(e, err)
		return store.InMemory(header)
	}
	session.OnWriteError(func(err error) { a.unkept(e, err) })
	return session
}

// unkept says that a conversation goes on and is not kept any more.
func (a *app) unkept(e *engine.Engine, err error) {
	e.Aside(func() {
		a.console.Note("this conversation is not kept: "+err.Error(), "hookd keeps sessions in $XDG_STATE_HOME/hookd; it must be writable, with room left")
	})
}

// begin starts the work that the flags or a prompt ask for.
func (c *conversation) begin(ctx context.Context, flags *runFlags, prompt agentloop.Prompt) (*agentloop.Run, error) {
	var run *agentloop.Run
	var err error
	switch {
	case c.isCompaction(flags.recipe):
		run, err = c.loop.Compact(ctx, flags.recipe, flags.args[compactArg])
	case flags.recipe != "":
		run, err = c.loop.RunRecipe(ctx, flags.recipe, flags.args)
	default:
		run, err = c.loop.RunPrompt(ctx, prompt)
	}
	if err != nil {
		return nil, cli.Failed("run", err, "")
	}
	return run, nil
}

// setModel lets another model answer from the next prompt on.
func (c *conversation) setModel(name string) error {
	c.choice.name = name
	m, err := c.a.chooseModel(c.choice, c.settings)
	if err != nil {
		return err
	}
	if err := c.loop.SetModel(m); err != nil {
		return cli.Failed("model", err, "")
	}
	c.model = m
	return nil
}

// watch hands what a run yields to a view, and returns how the run ended. What
// cannot be printed is the second error.
func (c *conversation) watch(run *agentloop.Run, w watcher) (ended, unseen error) {
	for y := range run.Events() {
		c.aside(func() { unseen = errors.Join(unseen, w.see(y)) })
	}
	return run.Wait(), unseen
}

// end closes the session with the reason of session-end, which w sees, and
// returns what ended last. w may be nil.
func (c *conversation) end(ctx context.Context, ended error, w watcher) error {
	reason := "exit"
	if ctx.Err() != nil {
		reason = "interrupted"
	} else if ended != nil {
		reason = "error"
	}
	y, err := c.loop.Close(context.WithoutCancel(ctx), reason)
	if err == nil && w != nil && y.Event.Event != "" {
		c.aside(func() { err = w.see(y) })
	}
	if err != nil && ended == nil {
		ended = err
	}
	return errors.Join(ended, c.session.Close())
}

// resumeHint says how to go on with the session.
func (c *conversation) resumeHint() {
	if !c.session.IsWritten() {
		return
	}
	p := c.a.console.Err
	p.Print("%s\n", p.In(show.Quiet, "session "+c.session.ID()+"; hookd run --continue goes on with it"))
}
