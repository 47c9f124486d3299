package verify

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/executor/guest"
	"github.com/hookd-dev/hookd/loader/install"
)

// proof is the attempt to see a hook call of an installation arrive.
type proof struct {
	v      *Verifier
	s      *subject
	r      *Result
	driver *driver // nil if the agent cannot be driven
	dir    string  // an empty project of its own, in which everything is started
	daemon *daemon // that is to answer, nil where agents do not start the messenger
}

// prove makes the calls that can be made without a model, and says what came of them: the
// agent's own call, and the command of an entry where the agent is not started.
func (v *Verifier) prove(ctx context.Context, s *subject, r *Result) {
	if v.Run == nil {
		r.Proof = "not tried: nothing is started"
		return
	}
	if s.installed.Scope == install.Project && !s.recorded() {
		r.Proof = "not tried: hookd was not installed by you, and what a project names is not started"
		return
	}
	dir, err := emptyProject()
	if err != nil {
		r.Proof = "not tried: " + err.Error()
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	p := proof{v: v, s: s, r: r, dir: dir}
	if at := slices.IndexFunc(drivers, func(d driver) bool { return d.agent == s.agent.Name }); at >= 0 {
		p.driver = &drivers[at]
	}
	if p.warm() {
		if p.daemon, err = p.startDaemon(ctx); err != nil {
			r.doubt(Problem{Check: "daemon", File: r.File, Text: "no daemon could be started, so that hookd answers alone, which takes longer: " + err.Error(), Remedy: s.again() + " --warm"})
		}
		defer p.daemon.end()
	}
	why := p.notDriven()
	if why == "" {
		why = p.drive(ctx)
	}
	if r.Verdict != Broken && (why != "" || p.daemon != nil) {
		p.callCommands(ctx, why)
	}
}

// emptyProject makes a folder that is a project without hooks, so that its daemon is
// nobody else's.
func emptyProject() (string, error) {
	dir, err := os.MkdirTemp("", "hookd-verify-")
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if err := os.Mkdir(filepath.Join(dir, ".acai"), 0o700); err != nil {
		_ = os.RemoveAll(dir)
		return "", err
	}
	return dir, nil
}

// notDriven says why the agent is not started, "" if it is.
func (p *proof) notDriven() string {
	title := p.s.agent.Title
	switch {
	case p.driver == nil:
		return title + " cannot be driven without a model"
	case p.s.found.Program == "":
		return "the program of " + title + " is not on PATH"
	case p.s.installed.Scope == install.Project && p.driver.bound:
		return title + " trusts hooks by the place where they stand, and would not run a copy"
	case p.s.installed.Scope == install.Project && runtime.GOOS == "windows":
		return "the hooks of a project are not tried on this system"
	}
	return ""
}

// drive starts the agent and judges what its call was. It returns why nothing was tried,
// "" if it was.
func (p *proof) drive(ctx context.Context) string {
	marker, err := guest.NewMarker(p.v.State)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = marker.Remove() }()
	environ := withVariables(p.v.Environ, append(slices.Clone(p.driver.env), guest.MarkerVar+"="+marker.Token))
	if p.s.installed.Scope == install.Project {
		if err := p.copyEntries(marker.Token); err != nil {
			return err.Error()
		}
		environ = withVariables(p.v.Environ, append(slices.Clone(p.driver.env), guest.MarkerVar+"="))
	}
	mark, ended := p.v.start(ctx, &call{program: p.s.found.Program, args: p.driver.args, dir: p.dir, environ: environ, limit: proofLimit}, marker)
	p.judge(mark, ended)
	return ""
}

// judge says what a call of the agent means.
func (p *proof) judge(mark *guest.Mark, ended string) {
	r, title := p.r, p.s.agent.Title
	switch {
	case mark == nil: // perhaps it did not come as far as its hooks
		r.doubt(Problem{Check: "proof", File: r.File,
			Text:   fmt.Sprintf("%s was started and did not call hookd: %s", title, ended),
			Remedy: "start it by hand and look for what it says of its hooks; confirm what it asks for"})
		return
	case mark.Agent != p.s.agent.Name:
		r.fault(Problem{Check: "proof", File: r.File, Text: fmt.Sprintf("%s called hookd as %s", title, mark.Agent), Remedy: p.s.again()})
		return
	}
	r.Proof = fmt.Sprintf("its call at %s reached %s", mark.Event, mark.Program)
	if mark.Daemon {
		r.Proof = fmt.Sprintf("its call at %s reached the daemon of %s", mark.Event, mark.Program)
	} else if p.daemon != nil {
		r.doubt(Problem{Check: "daemon", File: r.File,
			Text:   fmt.Sprintf("the call of %s reached hookd, and the daemon that was there was not asked: hookd answers alone, which takes longer", title),
			Remedy: "start the agent with the HOME, XDG_STATE_HOME and XDG_RUNTIME_DIR that hookd has here"})
	}
	// It has hooks, whatever its version is, and runs them, whatever it keeps of them.
	r.Doubts = slices.DeleteFunc(r.Doubts, func(d Problem) bool {
		return d.Check == "version" || d.Check == "hook-trust" && strings.Contains(d.Text, noHashAgrees)
	})
	if len(r.Doubts) == 0 {
		r.Verdict = Proved
	}
}

// callCommands runs the command of an entry, where the agent was not driven, and again after
// the death of the daemon: then hookd has to answer alone.
func (p *proof) callCommands(ctx context.Context, why string) {
	if why != "" {
		mark := p.callCommand(ctx, "")
		if mark == nil {
			return
		}
		by := "hookd"
		if mark.Daemon {
			by = "hookd's daemon"
		} else if p.daemon != nil {
			p.r.doubt(Problem{Check: "daemon", File: p.r.File, Text: "the daemon that was there was not asked: hookd answers alone, which takes longer", Remedy: p.s.again() + " --warm"})
		}
		p.r.Proof = "not tried: " + why + "; the command of its entries, run by hand, reached " + by
	}
	if p.daemon == nil {
		return
	}
	p.daemon.kill()
	mark := p.callCommand(ctx, " after its daemon was killed")
	switch {
	case mark == nil:
	case mark.Daemon:
		p.r.doubt(Problem{Check: "daemon", File: p.r.File, Text: "another daemon answered in place of the one that was killed", Remedy: "hookd serve --stop, then run hookd verify again"})
	default:
		p.r.Proof += "; after the daemon's death hookd answered alone"
	}
}

// callCommand runs the command of an entry with an empty input, and returns its mark. Without
// one the installation is broken.
func (p *proof) callCommand(ctx context.Context, when string) *guest.Mark {
	entry := p.s.installed.Entries[0]
	marker, err := guest.NewMarker(p.v.State)
	if err != nil {
		p.r.Proof = "not tried: " + err.Error()
		return nil
	}
	defer func() { _ = marker.Remove() }()
	c := call{dir: p.dir, environ: withVariables(p.v.Environ, []string{guest.MarkerVar + "=" + marker.Token}), limit: commandLimit, stdin: "{}"}
	c.program, c.args = commandOf(&entry)
	mark, ended := p.v.start(ctx, &c, marker)
	if mark == nil {
		p.r.fault(Problem{Check: "proof", File: p.r.File, Line: entry.Line,
			Text: fmt.Sprintf("the command of the entry does not reach hookd%s: %s", when, ended), Remedy: p.s.again()})
	}
	return mark
}

// commandOf returns how to run the command of an entry: as hookd would write it, with a
// shell, as agents do; on Windows by its words.
func commandOf(entry *install.Entry) (program string, args []string) {
	if runtime.GOOS != "windows" {
		return "/bin/sh", []string{"-c", entry.Command.Line(install.POSIX)}
	}
	words := entry.Command.Words()
	return words[0], words[1:]
}

// fault notes what breaks an installation.
func (r *Result) fault(p Problem) {
	r.Verdict = Broken
	r.Problems = append(r.Problems, p)
}

// doubt notes what may keep an installation from working.
func (r *Result) doubt(p Problem) {
	if r.Verdict != Broken {
		r.Verdict = CannotSay
	}
	r.Doubts = append(r.Doubts, p)
}
