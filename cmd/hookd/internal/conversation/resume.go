package conversation

import (
	"context"
	"errors"
	"time"

	"github.com/hookd-dev/hookd/agentloop/store"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/sessionscmd"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
)

// chosenSession returns the ID of the session to go on with, "" for a new one. A session
// stays in the project where it began, whatever the working directory is.
func (o *opening) chosenSession(ctx context.Context, flags *Flags) (string, error) {
	if !flags.resumes() {
		return "", nil
	}
	state, err := places.StateDir()
	if err != nil {
		return "", err
	}
	folder := places.Conversations(state)
	if flags.Resume == "" {
		here, err := sessionscmd.Here(ctx, o.hooks.Project, folder, false)
		if err != nil {
			return "", err
		}
		for i := range here {
			if here[i].Damage == nil {
				o.noteDamaged(here[:i], here[i].ID)
				o.noteResumed(&here[i])
				return here[i].ID, nil
			}
		}
		return "", cli.Usage("no-session", "there is no session of this project or folder to go on with", "hookd sessions list --all shows those of others")
	}
	id, err := sessionscmd.Find(folder, flags.Resume)
	if err != nil {
		return "", err
	}
	header, err := store.HeaderOf(folder, id)
	if err != nil {
		return "", sessionscmd.Fault(err)
	}
	return id, o.keepProject(ctx, id, header.Project)
}

// noteResumed prints which session goes on: the person did not name it.
func (o *opening) noteResumed(s *store.Info) {
	text := "session " + s.ID + " goes on, last used " + s.Last.Local().Format("2006-01-02 15:04") + " (" + sessionscmd.Age(time.Since(s.Last)) + ")"
	if first := show.Shorten(show.FirstLine(s.First), 60); first != "" {
		text += ": " + first
	}
	o.console.Note(text, "")
}

// noteDamaged prints that the session used last does not go on, since it is damaged.
func (o *opening) noteDamaged(damaged []store.Info, id string) {
	if len(damaged) > 0 {
		d := &damaged[0]
		o.console.Note("session "+d.ID+" is damaged: "+d.Path+": "+d.Damage.Error()+"; an earlier one goes on: "+id, sessionscmd.DamageHint(d.ID))
	}
}

func (o *opening) keepProject(ctx context.Context, id, project string) error {
	here, err := o.hooks.Project.Root(ctx)
	if err != nil || here == project || project == "" {
		return err
	}
	if o.hooks.Project.Folder != "" {
		return cli.Usage("other-project", "session "+id+" belongs to the project "+project, "leave --project out")
	}
	o.console.Note("session "+id+" goes on in its project, "+project, "")
	o.hooks.Project.Folder = project
	return nil
}

// openSession opens the file of the session to go on with, or begins a session.
func (o *opening) openSession(e *engine.Engine, id, modelName string) (*store.Session, error) {
	folder := places.Conversations(e.StateDir)
	if id == "" {
		return o.newSession(e, folder, modelName), nil
	}
	session, err := store.Open(folder, id)
	if err != nil {
		return nil, sessionscmd.Fault(err)
	}
	session.OnWriteError(func(err error) { o.noteNotKept(e, err) })
	if session.State().Model == modelName {
		return session, nil
	}
	if err := session.Append(store.Entry{Kind: store.Model, Text: modelName}); err != nil {
		return nil, errors.Join(cli.Failed("session", err, ""), session.Close())
	}
	return session, nil
}

// newSession begins a session. Without a folder to keep it in, the session is in memory
// only.
func (o *opening) newSession(e *engine.Engine, folder, modelName string) *store.Session {
	header := store.Header{Project: o.project, Model: modelName}
	if header.Project == "" {
		header.Folder = e.Root
	}
	if e.StateDir == "" { // that nothing is kept was said
		return store.InMemory(header)
	}
	session, err := store.Create(folder, "", header)
	if err != nil {
		o.noteNotKept(e, err)
		return store.InMemory(header)
	}
	session.OnWriteError(func(err error) { o.noteNotKept(e, err) })
	return session
}

// noteNotKept prints that the conversation goes on and is not kept any more.
func (o *opening) noteNotKept(e *engine.Engine, err error) {
	e.Aside(func() {
		o.console.Note("this conversation is not kept: "+err.Error(), "hookd keeps sessions in $XDG_STATE_HOME/hookd; it must be writable, with room left")
	})
}
