package newcmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
)

// answer is what a hook of a template does where it finds what it looks for.
type answer string

const (
	tells   answer = "notice"   // the person reads something
	blocks  answer = "block"    // the event is refused
	stops   answer = "stop"     // the run ends
	changes answer = "change"   // the value that it looks at is another one
	informs answer = "context"  // the model reads something
	goesOn  answer = "continue" // the agent does not end
	grants  answer = "allow"    // nobody is asked
)

// answerOf returns what the template of an event does with a class, "" if a hook of that
// class has nothing to do there. The table of events decides.
func answerOf(spec *protocol.Spec, can protocol.Class) answer {
	s := subjectOf(spec.Name)
	switch can {
	case protocol.CanObserve:
		return tells
	case protocol.CanBlock:
		switch {
		case spec.Block != protocol.BlockFails:
			return blocks
		case spec.CanStop():
			return stops
		}
	case protocol.CanModify:
		switch {
		case slices.ContainsFunc(spec.Fields, func(f protocol.Field) bool {
			return f.Path == s.member || strings.HasPrefix(s.member, f.Path+".")
		}):
			return changes
		case spec.Ask == protocol.AskStays:
			return grants
		case spec.Continue != protocol.ContinueFails:
			return goesOn
		case spec.Context != "":
			return informs
		}
	}
	return ""
}

var classes = []protocol.Class{protocol.CanObserve, protocol.CanBlock, protocol.CanModify}

// classesAt are the classes of which a hook has something to do at an event.
func classesAt(spec *protocol.Spec) (names []string) {
	for _, can := range classes {
		if answerOf(spec, can) != "" {
			names = append(names, string(can))
		}
	}
	return names
}

// pickClass returns the class that a person named. Without a name it is block where a hook
// can refuse, else modify where it can change something or say something to the model,
// else observe.
func pickClass(spec *protocol.Spec, can string) (protocol.Class, error) {
	can = strings.TrimSpace(can)
	if can == "" {
		switch {
		case answerOf(spec, protocol.CanBlock) == blocks:
			return protocol.CanBlock, nil
		case answerOf(spec, protocol.CanModify) != "":
			return protocol.CanModify, nil
		}
		return protocol.CanObserve, nil
	}
	if !slices.Contains(classes, protocol.Class(can)) {
		return "", cli.Usage("usage", fmt.Sprintf("a hook cannot %q", can), nearest(can, []string{"observe", "block", "modify"}))
	}
	if answerOf(spec, protocol.Class(can)) != "" {
		return protocol.Class(can), nil
	}
	why := "there is nothing to refuse at " + string(spec.Name)
	if protocol.Class(can) == protocol.CanModify {
		why = "there is nothing to change at " + string(spec.Name)
	}
	if spec.Kind == protocol.Notice {
		why += ", which hooks are only told of"
	}
	return "", cli.Usage("usage", why, "--can "+strings.Join(classesAt(spec), ", or --can "))
}

// nearest is the remedy for a word that is none of those known.
func nearest(word string, known []string) string {
	remedy := "one of " + strings.Join(known, ", ")
	if near := text.Nearest(word, known); near != "" {
		remedy = fmt.Sprintf("did you mean %q? It is ", near) + remedy
	}
	return remedy
}

// othersAt names what else a hook of a class may answer at an event, for the comment at the
// end of a template.
func othersAt(spec *protocol.Spec, can protocol.Class, but answer) string {
	all := []struct {
		answer answer
		is     bool
		what   string
	}{
		{blocks, can != protocol.CanObserve && spec.Block != protocol.BlockFails, "block"},
		{stops, can != protocol.CanObserve && spec.CanStop(), "stop, which ends the run"},
		{"ask", can != protocol.CanObserve && spec.Ask != protocol.AskFails && spec.Ask != protocol.AskStays, "ask, which lets a person decide"},
		{grants, can != protocol.CanObserve && spec.Ask == protocol.AskStays, "allow"},
		{informs, can != protocol.CanObserve && spec.Context != "", "context for the model"},
		{goesOn, can != protocol.CanObserve && spec.Continue != protocol.ContinueFails, "continue"},
		{changes, can == protocol.CanModify && spec.CanChange(), "modify (" + strings.Join(changeable(spec), ", ") + ")"},
		{tells, true, "notice for the person"},
	}
	var others []string
	for _, a := range all {
		if a.is && a.answer != but {
			others = append(others, a.what)
		}
	}
	return strings.Join(others, "; ")
}

// changeable are the members of data that a modifier may change at an event.
func changeable(spec *protocol.Spec) (members []string) {
	for _, f := range spec.Fields {
		members = append(members, f.Path)
	}
	if spec.Replace != "" {
		members = append(members, string(spec.Replace))
	}
	return members
}
