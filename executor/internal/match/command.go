package match

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/shellwords"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/patterns"
)

// commandPatterns is a compiled match.command.
type commandPatterns struct {
	any   []patterns.Pattern // one of them for one command is a match
	cover []patterns.Pattern // what a hook that grants is about: all commands must be among them
}

// compileCommands compiles match.command. "git push *" also means "git push" alone: a
// guard that its author reads so must not be passed by leaving the last words out.
func compileCommands(written []string) (c commandPatterns, err error) {
	for _, text := range written {
		p, err := patterns.Parse(text)
		if err != nil {
			return c, err
		}
		c.any, c.cover = append(c.any, p), append(c.cover, p)
		bare, open := strings.CutSuffix(text, " *")
		if bare = strings.TrimSpace(bare); !open || bare == "" || bare[0] == '/' {
			continue
		}
		short, err := patterns.Parse(bare)
		if err != nil {
			return c, err
		}
		c.cover = append(c.cover, short)
		if short.Exact { // with more words, too: the glob says nothing more
			c.any[len(c.any)-1] = short
		} else {
			c.any = append(c.any, short)
		}
	}
	return c, nil
}

// lineOf is what a call runs.
type lineOf struct {
	line *shellwords.Line // nil if the call is none of a shell, or nobody knows what it runs
	why  string           // why nobody knows, "" where that is known
}

// command returns what the call runs. The line is read by the first matcher that needs
// it, once for all hooks.
func (in *Input) command() *lineOf {
	if in.line != nil {
		return in.line
	}
	in.line = &lineOf{}
	kind, could := in.callOf(protocol.KindShell)
	if !could {
		return in.line
	}
	if !in.Scan() {
		in.line.why = "the data of the event cannot be read"
		return in.line
	}
	given := jsonspan.Get(jsonspan.Get(in.event.Data, "args"), "command")
	switch {
	case jsonspan.Kind(given) == '"':
		in.line.line = shellwords.SplitIn(jsonspan.Text(given), in.event.Project, in.begins())
	case kind == protocol.KindShell:
		in.line.why = fmt.Sprintf("the call of %s does not say which command it runs", text.Shorten(in.Tool, 60))
	default:
		in.line.why = fmt.Sprintf("nobody knows whether the tool %s runs commands", text.Shorten(in.Tool, 60))
	}
	return in.line
}

// begins returns the folder in which the call's line begins, as seen from the project, "" if
// that is the project itself or not known.
func (in *Input) begins() string {
	project, folder := in.event.Project, in.event.Cwd
	if !path.IsAbs(project) || !path.IsAbs(folder) {
		return ""
	}
	if below, is := strings.CutPrefix(folder, strings.TrimSuffix(project, "/")); is && (below == "" || below[0] == '/') {
		return strings.Trim(below, "/")
	}
	return folder
}

// callOf returns the kind of the call's tool, and whether it could be one of some kinds:
// a tool of which nobody knows the kind may be any.
func (in *Input) callOf(kinds ...protocol.ToolKind) (kind protocol.ToolKind, could bool) {
	if !in.Scan() || in.Tool == "" {
		return "", true
	}
	if slices.Contains(kinds, in.Kind) {
		return in.Kind, true
	}
	seen := in.Seen()
	for _, k := range kinds {
		if p := kindPatterns()[k]; p.Fits(seen) {
			return in.Kind, true
		}
	}
	return in.Kind, false
}

// commandHolds compares match.command with the commands of the call's line. At an event
// that is about no call it does not restrict.
func (m *Matcher) commandHolds(in *Input) (Decision, error) {
	if len(m.command.any) == 0 || !in.isCall() {
		return Yes, nil
	}
	of := in.command()
	switch {
	case of.line != nil && m.Whole:
		admitted, _ := of.line.Admits(m.command.cover)
		return decisionOf(admitted), nil
	case of.line != nil:
		return compareLine(of.line, m.command.any)
	case of.why != "":
		return Undecided, &undecidedKey{keyCommand, of.why}
	}
	return No, nil
}

// compareLine reports whether one of the patterns is that of a command of the line.
func compareLine(line *shellwords.Line, list []patterns.Pattern) (Decision, error) {
	var unclear *shellwords.Command
	for _, p := range list {
		switch answer, by := line.Compare(p); answer {
		case shellwords.Yes:
			return Yes, nil
		case shellwords.Undecided:
			unclear = by
		}
	}
	switch {
	case unclear == nil:
		return No, nil
	case line.Err != nil:
		return Undecided, &undecidedKey{keyCommand, "the line cannot be read as a shell does: " + line.Err.Error()}
	}
	why := "not all of its words are literal"
	if unclear.Unclear != "" {
		why = unclear.Unclear
	}
	return Undecided, &undecidedKey{keyCommand, fmt.Sprintf("%s: %s", text.Line(text.Shorten(unclear.Text, 80)), why)}
}
