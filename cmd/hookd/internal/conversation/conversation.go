package conversation

import (
	"context"
	"errors"
	"slices"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/agentloop/recipe"
	"github.com/hookd-dev/hookd/agentloop/store"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/models"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/sessionscmd"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// System is the system text of a session where nobody gives another one.
const System = "You are a careful software engineer at work in the user's project."

// Flags are the flags of hookd run.
type Flags struct {
	Model  models.Choice
	System string
	Follow bool   // go on with the newest session of the project
	Resume string // go on with this one
	Recipe string // run this recipe instead of a prompt
	Args   map[string]string
	Allow  allowFlag
	Schema string // file with the JSON Schema of the final answer, "" for none
	Host   Host
}

// resumes reports whether the run goes on with a session.
func (f *Flags) resumes() bool { return f.Follow || f.Resume != "" }

// Anew makes the flags those of a new session, with the same model.
func (f *Flags) Anew() { f.Follow, f.Resume, f.Recipe, f.Args = false, "", "", nil }

// Conversation is a session with an agent in it: the hooks of its project, the
// loop, and the file that keeps it.
type Conversation struct {
	Hooks    *engine.Opener
	Engine   *engine.Engine
	settings *schema.Settings
	Model    model.Model
	choice   *models.Choice
	offered  []string // models
	Session  *store.Session
	Loop     *agentloop.Loop
	recipes  *recipe.Library
	aside    func(func()) // runs a print so that no other output mixes with it
	skills   bool         // it began with skills, so that others count as they come
}

// opening is a conversation that is being opened.
type opening struct {
	hooks   *engine.Opener
	console *cli.Console
	project string // of the session's own folder, "" outside of any
}

// Open opens the session that the flags ask for. The approver may be nil.
func Open(ctx context.Context, hooks *engine.Opener, flags *Flags, approver agentloop.Approver, late engine.Late) (*Conversation, error) {
	o := &opening{hooks: hooks, console: hooks.Console}
	resumed, err := o.chosenSession(ctx, flags)
	if err != nil {
		return nil, err
	}
	asked, err := o.askAboutProject(ctx)
	if err != nil {
		return nil, err
	}
	e, err := o.openHooks(ctx, engine.Options{LongLived: true, Asked: asked, Late: late}, flags.Host.Folders)
	if err != nil {
		return nil, err
	}
	settings := *e.Settings() // a snapshot's own do not change
	if unread := settings.Agent.Unread; len(unread) > 0 {
		return nil, cli.Usage("settings", "no run starts: "+unread[0].String()+", and the default is not what was written there", "correct it as hookd check says, or remove it")
	}
	if !asked {
		o.noteUnread(ctx, e, &settings)
	}
	c := &Conversation{Hooks: hooks, Engine: e, settings: &settings, choice: &flags.Model, aside: e.Aside}
	if c.Model, err = models.Choose(o.console, o.hooks.Closers, c.choice, c.settings); err != nil {
		return nil, err
	}
	c.offered = models.Known(c.Model, c.choice.Name, c.settings)
	if c.Session, err = o.openSession(e, resumed, model.Origin(c.Model)); err != nil {
		return nil, err
	}
	c.skills = skillsFrom(snapshotOf(e)) != nil
	options, err := o.loopOptions(e, c.settings, c.Model, c.Session, flags)
	if err != nil {
		return nil, errors.Join(err, c.Session.Close())
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
	if c.Loop, err = agentloop.New(options); err != nil {
		return nil, errors.Join(loopFault(err), c.Session.Close())
	}
	return c, nil
}

// loopFault returns the fault of a session for which there is no loop.
func loopFault(err error) *cli.Fault {
	if _, isDamage := errors.AsType[*store.DamageError](err); isDamage {
		return sessionscmd.Fault(err)
	}
	return cli.Failed("run", err, "")
}

// Begin starts the work that the flags or a prompt ask for.
func (c *Conversation) Begin(ctx context.Context, flags *Flags, prompt agentloop.Prompt) (*agentloop.Run, error) {
	var run *agentloop.Run
	var err error
	switch {
	case c.isCompaction(flags.Recipe):
		run, err = c.Loop.Compact(ctx, flags.Recipe, flags.Args[compactArg])
	case flags.Recipe != "":
		run, err = c.Loop.RunRecipe(ctx, flags.Recipe, flags.Args)
	default:
		run, err = c.Loop.RunPrompt(ctx, prompt)
	}
	if err != nil {
		return nil, cli.Failed("run", err, "")
	}
	return run, nil
}

// RunCommand runs a shell command of the person with the model's own tool, so that hooks
// judge it as they judge the model's, and it ends with all it started.
func (c *Conversation) RunCommand(ctx context.Context, command string) (*agentloop.Run, error) {
	args, err := protocol.Marshal(map[string]string{"command": command})
	if err != nil {
		return nil, cli.Failed("run", err, "")
	}
	return c.Loop.RunCall(ctx, "bash", args)
}

// SetModel lets another model answer from the next prompt on.
func (c *Conversation) SetModel(name string) error {
	m, err := c.ChooseModel(name)
	if err != nil {
		return err
	}
	return c.UseModel(m)
}

// ChooseModel makes a model by its name, for [Conversation.UseModel].
func (c *Conversation) ChooseModel(name string) (model.Model, error) {
	before := c.choice.Name
	c.choice.Name = name
	m, err := models.Choose(c.Hooks.Console, c.Hooks.Closers, c.choice, c.settings)
	if err != nil {
		c.choice.Name = before
		return nil, err
	}
	if origin := model.Origin(m); !slices.Contains(c.offered, origin) {
		c.offered = append(c.offered, origin)
	}
	return m, nil
}

// UseModel lets a model answer from the next prompt on. None may run.
func (c *Conversation) UseModel(m model.Model) error {
	if err := c.Loop.SetModel(m); err != nil {
		return cli.Failed("model", err, "")
	}
	c.Model = m
	return nil
}

// Models are the models that the person is offered: those that the session has had, and those of
// the settings.
func (c *Conversation) Models() []string { return c.offered }

// Watch hands what a run shows to a printer and returns how the run ended. The second
// error says what could not be printed.
func (c *Conversation) Watch(run *agentloop.Run, w Printer) (ended, unseen error) {
	for y := range run.Events() {
		c.aside(func() { unseen = errors.Join(unseen, w.Print(y)) })
	}
	return run.Wait(), unseen
}

// End closes the session with the event session-end, which the printer shows, and returns
// the error of the run, or what went wrong at the end. w may be nil.
func (c *Conversation) End(ctx context.Context, ended error, w Printer) error {
	reason := "exit"
	if ctx.Err() != nil {
		reason = "interrupted"
	} else if ended != nil {
		reason = "error"
	}
	y, err := c.Loop.Close(context.WithoutCancel(ctx), reason)
	if err == nil && w != nil && y.Event.Event != "" {
		c.aside(func() { err = w.Print(y) })
	}
	if err != nil && ended == nil {
		ended = err
	}
	return errors.Join(ended, c.Session.Close())
}

// NoteResume prints how to go on with the session: it is the newest, unless another one
// follows.
func (c *Conversation) NoteResume(follows bool) {
	if !c.Session.IsWritten() {
		return
	}
	p := c.Hooks.Console.Err
	which := "--continue"
	if follows {
		which = "--resume " + c.Session.ID()
	}
	p.Print("%s\n", p.In(show.Quiet, "session "+c.Session.ID()+"; hookd run "+which+" goes on with it"))
}

// Printer prints what a run shows.
type Printer interface {
	Print(agentloop.Update) error
}

// Exit turns the end of a run into an exit code. What went wrong was printed
// as the event agent-error already.
func Exit(ctx context.Context, result agentloop.Result, ended error) error {
	var refusal *agentloop.Error
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(ended, &refusal) && (refusal.Cause == "blocked" || refusal.Cause == "failure"), ended == nil && result.StopReason == "hook":
		return cli.ExitCode(cli.ExitRefused)
	case ended != nil:
		return cli.ExitCode(cli.ExitFailed)
	}
	return nil
}

// ErrAborted is the cause of the context of a turn that the person ended.
var ErrAborted = errors.New("aborted by the person")
