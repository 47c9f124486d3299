package foreignhooks

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/internal/object"
	"github.com/hookd-dev/hookd/protocol/readreply"
)

// Reply returns what the program said, by its own agent's rules: which exit codes and
// which members of a reply have a meaning, and what that is here. v is the hook.
//
// A refusal that the agent would have honoured counts also where the program did not come
// to a good end. Everything else that the agent could not have read is a failure, and
// never a verdict.
func (a *Asking) Reply(v protocol.HookInfo, end Ending) protocol.ReadResult {
	if end.Failure != nil && end.Failure.Kind == protocol.FailAborted {
		return protocol.ReadResult{Failure: end.Failure}
	}
	spec := a.ev.Spec()
	s := a.heard(spec, &end)
	if s.failure == nil {
		reply, warnings, err := protocol.CheckReply(spec, v, s.reply)
		if err == nil {
			return protocol.ReadResult{Reply: &reply, ByExit: s.byExit, Warnings: append(s.warnings, warnings...)}
		}
		s.failure = &protocol.Failure{Kind: protocol.FailReply, Detail: err.Error(), Remedy: "correct what the hook answers, or what it can"}
	}
	failure := *s.failure
	if line := lastLine(end.Stderr); line != "" {
		failure.Detail += fmt.Sprintf("; last line of stderr: %q", text.Shorten(line, 300))
	}
	return protocol.ReadResult{Failure: &failure, Warnings: s.warnings}
}

// heard returns what was said, with a refusal that a bad end does not undo.
func (a *Asking) heard(spec *protocol.Spec, end *Ending) said {
	var s said
	switch {
	case end.Failure != nil:
		s = said{failure: end.Failure}
	case end.Signal != "":
		s = said{failure: &protocol.Failure{Kind: protocol.FailSignal, Detail: "ended by " + end.Signal, Remedy: "hookd try shows all of the hook's output"}}
	default:
		s = a.agent.reply(a, end)
	}
	if s.failure == nil || spec.Block != protocol.BlockRefuses || end.whole() && end.Exit == 0 {
		return s
	}
	all := Ending{Stdout: end.Stdout}
	if no := a.agent.reply(a, &all); no.refuses() {
		no.warn("%s, and what it had said before counts: %s would have let it pass", s.failure.Detail, a.agent.Title)
		return no
	}
	return s
}

// exited is the failure of a hook by its exit code.
func exited(code int) said {
	return said{failure: &protocol.Failure{Kind: protocol.FailExit, Detail: fmt.Sprintf("exit code %d", code), Remedy: readreply.ExitRemedy(code)}}
}

// unread is the failure of a hook whose answer its own agent could not have read.
func (a *Asking) unread(format string, args ...any) said {
	return said{failure: &protocol.Failure{Kind: protocol.FailReply, Detail: fmt.Sprintf(format, args...), Remedy: "correct what the hook prints: it speaks the protocol of " + a.agent.Title}}
}

// ignored is what an agent does not look at.
func (a *Asking) ignored(stdout []byte) said {
	s := said{reply: protocol.Reply{Action: protocol.Observe}}
	if out := strings.TrimSpace(text.Valid(string(stdout))); out != "" {
		s.warn("%s%s", protocol.BesidesReply, text.Shorten(out, 200))
	}
	return s
}

// blockedByExit is a refusal by exit code. Interpreters end with such codes, too, when
// they cannot run a program: that refuses, but keeps no run going.
func (a *Asking) blockedByExit(end *Ending, reason string) said {
	if a.ev.Spec().Block == protocol.BlockContinues && readreply.NamesProgram(end.Stderr, end.Program) {
		return said{failure: &protocol.Failure{Kind: protocol.FailExit, Detail: fmt.Sprintf("exit code %d, and the first line of stderr is its interpreter's", end.Exit)}}
	}
	if reason == "" {
		reason = stderrText(end.Stderr)
	}
	if reason == "" {
		reason = fmt.Sprintf("refused by exit code %d, without a reason", end.Exit)
	}
	return said{reply: protocol.Reply{Action: protocol.Block, Reason: reason}, byExit: true}
}

// stderrText is the end of what a program wrote to stderr.
func stderrText(stderr []byte) string { return readreply.StderrTail(stderr, 8<<10) }

func lastLine(output []byte) string { return readreply.LastLine(output) }

// errNotJSON says that an output is not even meant for JSON.
var errNotJSON = errors.New("it does not begin with {")

// jsonObject reads an output that is one JSON object and nothing else, as the JSON readers
// of other agents do: of members with one name the last counts.
func jsonObject(output []byte) (*object.Reader, error) {
	output = bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(output), []byte("\ufeff")))
	if len(output) == 0 || output[0] != '{' {
		return nil, errNotJSON
	}
	clean, err := protocol.StrictJSON(output, protocol.DecodeLimits{Size: 1 << 40, Depth: protocol.DefaultDepth})
	if err == nil {
		return &object.Reader{JSON: clean}, nil
	}
	decoder := stdjson.NewDecoder(bytes.NewReader(output))
	decoder.UseNumber()
	var value map[string]any
	if jsonspan.DeeperThan(output, protocol.DefaultDepth) || decoder.Decode(&value) != nil || decoder.More() || len(bytes.TrimSpace(output[decoder.InputOffset():])) > 0 {
		return nil, err
	}
	again, problem := stdjson.Marshal(value)
	if problem != nil {
		return nil, err
	}
	return &object.Reader{JSON: again}, nil
}

// member kinds, for members.
const (
	aText   = '"'
	anObj   = '{'
	aList   = '['
	aBool   = 't'
	anyKind = 0
)

// members are the names of members that a reply may have, each with the kind of value
// that it must be.
type members map[string]byte

// check says what is wrong with an object's members, "" if nothing is. With closed, a
// member that is not listed is wrong, too.
func (want members) check(of protocol.RawMessage, closed bool) string {
	for _, m := range jsonspan.Members(of) {
		kind, known := want[m.Name]
		if !known {
			if closed {
				return fmt.Sprintf("the member %q is not known there", text.Shorten(m.Name, 60))
			}
			continue
		}
		if is := jsonspan.Kind(m.Value); kind != anyKind && is != kind && !(kind == aBool && is == 'f') && is != 'n' {
			return fmt.Sprintf("the member %s is %s", m.Name, jsonspan.KindName(m.Value))
		}
	}
	return ""
}

// oneOf says what is wrong with a word, "" if nothing is or it is not there.
func oneOf(of *object.Reader, pointer string, words ...string) string {
	value := of.At(pointer)
	if value == nil || jsonspan.IsNull(value) || jsonspan.Kind(value) == '"' && slices.Contains(words, jsonspan.Text(value)) {
		return ""
	}
	return fmt.Sprintf("the member %s is %s, not one of %s", strings.TrimPrefix(pointer, "/"), text.Shorten(string(value), 60), strings.Join(words, " "))
}

// no says what a refusal of ours reads as: one that the event can be refused with.
func (a *Asking) no(reason string) protocol.Reply {
	if reason == "" {
		reason = protocol.NoReason
	}
	return protocol.Reply{Action: protocol.Block, Reason: reason}
}

// ends ends the run, where an event can.
func (a *Asking) ends(s *said, reason string) {
	if !a.ev.Spec().CanStop() {
		s.warn("it ends the run, which has no meaning at %s", a.ev.Event)
		return
	}
	if reason == "" {
		reason = protocol.NoReason
	}
	s.reply = protocol.Reply{Action: protocol.Stop, Reason: reason, Context: s.reply.Context, Notice: s.reply.Notice}
}

// tells adds text for the model.
func tells(s *said, texts ...string) {
	for _, t := range append([]string{s.reply.Context}, texts...) {
		if t != "" && t != s.reply.Context {
			s.reply.Context = strings.TrimPrefix(s.reply.Context+"\n\n"+t, "\n\n")
		}
	}
}

// changesArgs adds changed args, in our form. Where there is a refusal they have no
// meaning.
func (a *Asking) changesArgs(s *said, args protocol.RawMessage) {
	switch {
	case s.refuses() || args != nil && jsonspan.Equal(args, a.call.ours):
		return
	case args == nil: // never the old ones: the hook wanted something else to run
		s.reply = protocol.Reply{Action: protocol.Block, Reason: "a hook changed the call in a way that cannot be carried out here; so it was refused", Notice: s.reply.Notice}
		return
	}
	a.replaces(s, "args", args)
}

// replaces adds the change of one member of the data.
func (a *Asking) replaces(s *said, member string, value protocol.RawMessage) {
	if s.refuses() {
		return
	}
	patch := object.Object{{"op", "replace"}, {"path", "/" + member}, {"value", value}}
	s.reply.Patch = append(append(protocol.RawMessage("["), bytes.TrimSpace(patch.Line())...), ']')
	if s.reply.Action == "" || s.reply.Action == protocol.Observe || s.reply.Action == protocol.Allow {
		s.reply.Action = protocol.Modify
	}
}

// changesResult replaces the text of a tool's result.
func (a *Asking) changesResult(s *said, words string) {
	content := object.Raw([]object.Object{{{"type", "text"}, {"text", object.Always(words)}}})
	a.replaces(s, "result", object.Set(a.data.At("result"), "content", content))
}
