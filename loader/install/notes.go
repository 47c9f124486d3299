package install

import (
	"cmp"
	"fmt"
	"strings"
)

// notes adds what the person should know about an installation. blocks says that entries of
// it have a failure block.
func (p *Plan) notes(in *Installer, r Request, blocks bool) {
	say := func(remedy, format string, args ...any) {
		p.Notes = append(p.Notes, Note{fmt.Sprintf(format, args...), remedy})
	}
	a := r.Agent
	if len(p.Missing) > 0 {
		again := "hookd install " + a.Name + r.Scope.flag() + " again"
		if r.Version.Known() {
			say("after an update of "+a.Title+" run "+again, "%s %s has no event %s, so that hookd is not asked there", a.Title, r.Version, strings.Join(p.Missing, ", "))
		} else {
			say("once it is known, run "+again, "the version of %s is not known (%s), so that events which not every version has are left out: %s", a.Title, cmp.Or(r.Unknown, "it did not say"), strings.Join(p.Missing, ", "))
		}
	}
	if assumed := a.events.assumed; assumed.Known() && !r.Version.Known() {
		say("update "+a.Title+", or put "+a.Programs[0]+" on PATH and run hookd install "+a.Name+r.Scope.flag()+" again",
			"the version of %s is not known (%s) and taken for %s or later; an older one takes no hook of a file with events that it does not know", a.Title, cmp.Or(r.Unknown, "it did not say"), assumed)
	}
	if a.events.blocks.Known() && !blocks && (!r.Version.Known() || r.Version.Compare(a.events.blocks) < 0) {
		say("", "%s goes on when hookd cannot be started or answers too late; since %s it can be told to stop then", a.Title, a.events.blocks)
	}
	if a.Confirm != "" && r.Scope != Managed {
		say("", "%s", a.Confirm)
	}
	if a.InProject != "" && r.Scope == Project {
		say("", "%s", a.InProject)
	}
	if r.Scope == Project {
		say("", "the file belongs to the project: whoever works in a copy of it needs hookd at %s, and %s fails to start it elsewhere", r.Program, a.Title)
	}
	if r.Scope == Managed && changeable(r.Program) {
		say("install hookd as administrator, for example in /usr/local/bin", "%s can be changed by others than the administrator, and with it what these hooks do", r.Program)
	}
	if r.Scope == Managed && closed(r.Program) {
		say("install hookd where every user may start it, for example in /usr/local/bin", "other users may not start %s, so that these hooks fail for them", r.Program)
	}
	switch a.Name {
	case "cursor":
		if len(in.StatusOf(Find("claude"), User).Entries) > 0 || in.Places.Project != "" && len(in.StatusOf(Find("claude"), Project).Entries) > 0 {
			say("", "Cursor also runs the hooks in the settings of Claude Code, so that hookd is asked twice for the same call")
		}
	case "gemini":
		say("in the editor's settings, start it as: hookd acp --mode default -- gemini --acp", "in an editor (gemini --acp) Gemini CLI asks no hooks about tools and prompts")
	case "openhands":
		if r.Scope == User && in.Places.Project != "" {
			if c, err := open(a.Paths(in.Places, Project)[0]); err == nil && c.Exists {
				say("hookd install openhands --project", "this project has hooks of its own in %s, so that OpenHands does not read those of the person here", c.Path)
			}
		}
	}
	for _, problem := range in.Places.switchedOff(Installed{Agent: a, Scope: r.Scope}) {
		say(problem.Remedy, "%s (%s)", problem.Text, problem.File)
	}
}
