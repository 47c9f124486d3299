package builtin

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/agentloop/skill"
	"github.com/hookd-dev/hookd/agentloop/tool"
	"github.com/hookd-dev/hookd/protocol"
)

const (
	skillsName = "skills"
	loadSkill  = "load_skill"

	// maxCalled is how much text of skills goes to one prompt, in bytes. An event
	// carries 64 KiB of context, which other hooks have a share in.
	maxCalled = 48 << 10
	// maxListed is how large the list in the system text may be, in bytes.
	maxListed = 16 << 10
)

// Skills lets a model look up how things are done. The names and descriptions of the
// skills stand at the end of the system text; a skill's text joins the conversation when
// a prompt calls for it, by a keyword or by name, or when the model loads it with the
// tool load_skill.
//
// A skill's text is added once, for as long as the conversation holds it: what a
// compaction took away may come again. Files are read when a run of the main
// agent begins, so a skill that was edited counts from the next prompt on, and is
// then added again if it is called for. Nothing is added in a recipe, whose text
// says what it needs.
//
// All of this happens at agent-start, not at prompt-submit: there the prompt
// stands as all hooks left it, a refused one is out of the way, and the
// conversation shows which skills it holds.
func Skills(files []skill.File) provider.Provider {
	files = slices.Clone(files)
	return SkillsOf(func() []skill.File { return files })
}

// SkillsOf is [Skills] with files that may become others while a conversation goes on: it
// asks for them when a run of the main agent begins.
func SkillsOf(files func() []skill.File) provider.Provider {
	s := &skills{files: files, held: map[string]map[string]bool{}}
	return provider.Provider{
		Name: skillsName,
		Hooks: []protocol.GoHook{{
			Name:        skillsName,
			Description: "lists skills for the model and adds those that a prompt calls for",
			Events:      []protocol.EventName{protocol.AgentStart, protocol.StepStart, protocol.ToolCallStart},
			Match:       protocol.Match{Tool: []string{loadSkill}},
			Func:        s.onEvent,
		}},
		Tools: []tool.Tool{tool.New(tool.Description{
			Name: loadSkill,
			Description: "Loads the text of a skill: how something is done here. The system text lists the skills. " +
				"With file it reads one of the files that belong to the skill.",
			Kind: protocol.KindRead,
		}, s.load)},
	}
}

type skills struct {
	files func() []skill.File

	mu       sync.Mutex
	read     []skill.Skill   // as they were when the last run began
	reported map[string]bool // problems
	// held are, by agent, the skills that its conversation holds as of its last
	// step-start, by their marks.
	held map[string]map[string]bool
}

func (s *skills) onEvent(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
	if ev.Recipe != nil {
		return protocol.Reply{}, nil
	}
	switch ev.Event {
	case protocol.AgentStart:
		return s.agentStart(ev)
	case protocol.StepStart:
		return s.stepStart(ev)
	case protocol.ToolCallStart:
		return s.toolCallStart(ev)
	}
	return protocol.Reply{}, nil
}

func (s *skills) agentStart(ev *protocol.Event) (protocol.Reply, error) {
	var data protocol.AgentStartData
	if err := json.Unmarshal(ev.Data, &data); err != nil {
		return protocol.Reply{}, err
	}
	list, notices := s.current(!isNested(ev))
	reply := protocol.Reply{Action: protocol.Observe}
	canLoad := slices.ContainsFunc(data.Tools, func(t protocol.Tool) bool { return t.Name == loadSkill })
	if system := withList(data.System, list, canLoad); system != data.System {
		reply.Action, reply.Changes = protocol.Modify, object("system", system)
	}
	held := heldSkills(data.Messages)
	text, tooMuch := called(list, data.Prompt, held)
	reply.Context = text
	s.setHeld(ev, held)
	if len(tooMuch) > 0 {
		notices = append(notices, fmt.Sprintf("not added, because a prompt takes %d bytes of skills: %s", maxCalled, strings.Join(tooMuch, ", ")))
	}
	reply.Notice = strings.Join(notices, "\n")
	return reply, nil
}

// current returns the skills, which are read again if refresh is true, and reports each
// faulty file once.
func (s *skills) current(refresh bool) ([]skill.Skill, []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !refresh && s.reported != nil {
		return s.read, nil
	}
	if s.reported == nil {
		s.reported = map[string]bool{}
	}
	var problems []skill.Problem
	s.read, problems = skill.Read(s.files())
	var notices []string
	for _, p := range problems {
		if text := p.Error(); !s.reported[text] {
			s.reported[text] = true
			notices = append(notices, text)
		}
	}
	return s.read, notices
}

// called returns the text of the skills that a prompt calls for and the conversation
// does not hold, and the names of those that would be too much. What it returns counts
// as held.
func called(list []skill.Skill, prompt string, held map[string]bool) (text string, tooMuch []string) {
	var b strings.Builder
	for _, s := range skill.Called(list, prompt) {
		if held[mark(s)] {
			continue
		}
		one := rendered(s)
		if b.Len()+len(one) > maxCalled {
			tooMuch = append(tooMuch, s.Name)
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(one)
		held[mark(s)] = true
	}
	if len(tooMuch) > 0 {
		fmt.Fprintf(&b, "\n\nAlso called for, to be loaded with %s: %s", loadSkill, strings.Join(tooMuch, ", "))
	}
	return b.String(), tooMuch
}

// mark is the line above a skill's text, by which it is found again. It names
// the text, so that no other one passes for it.
func mark(s skill.Skill) string { return "[skill " + s.Name + ", revision " + s.Revision + "]" }

// rendered returns a skill as the model reads it.
func rendered(s skill.Skill) string {
	text := mark(s) + "\n" + s.Text
	if len(s.File.Beside) > 0 {
		text += fmt.Sprintf("\n\nFiles of this skill, to be read with %s: %s", loadSkill, strings.Join(s.File.Beside, ", "))
	}
	return text + "\n[end of skill " + s.Name + "]"
}

// heldSkills returns the marks in a conversation where this provider put them: in its
// context, and in the results of its tool.
func heldSkills(messages []protocol.Message) map[string]bool {
	held := map[string]bool{}
	loads := map[string]bool{}
	for _, message := range messages {
		for _, part := range message.Content {
			switch {
			case part.Type == protocol.PartToolCall && part.Name == loadSkill:
				loads[part.ToolCallID] = true
			case part.Type == protocol.PartToolResult && loads[part.ToolCallID] && !part.IsError:
				addMarks(held, part.Content.Text())
			case part.Type == protocol.PartText && part.Hook == skillsName && part.Layer == protocol.Builtin:
				addMarks(held, part.Text)
			}
		}
	}
	return held
}

func addMarks(held map[string]bool, text string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "[skill ") {
			held[line] = true
		}
	}
}

func (s *skills) stepStart(ev *protocol.Event) (protocol.Reply, error) {
	var data protocol.StepStartData
	if err := json.Unmarshal(ev.Data, &data); err != nil {
		return protocol.Reply{}, err
	}
	s.setHeld(ev, heldSkills(data.Messages))
	return protocol.Reply{}, nil
}

func (s *skills) setHeld(ev *protocol.Event, held map[string]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[agentKey(ev)] = held
}

// toolCallStart answers a call for a skill that the conversation holds.
func (s *skills) toolCallStart(ev *protocol.Event) (protocol.Reply, error) {
	var data protocol.ToolCallStartData
	if err := json.Unmarshal(ev.Data, &data); err != nil {
		return protocol.Reply{}, err
	}
	var args loadArgs
	if data.Name != loadSkill || json.Unmarshal(data.Args, &args) != nil || args.File != "" {
		return protocol.Reply{}, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	held := s.held[agentKey(ev)]
	i := slices.IndexFunc(s.read, func(k skill.Skill) bool { return k.Name == args.Name })
	if i < 0 || held == nil {
		return protocol.Reply{}, nil
	}
	if m := mark(s.read[i]); !held[m] {
		held[m] = true // a second call in the same step
		return protocol.Reply{}, nil
	}
	result, err := protocol.Marshal(tool.OK("The text of the skill " + args.Name + " stands in this conversation already."))
	return protocol.Reply{Action: protocol.Modify, Result: result}, err
}

type loadArgs struct {
	Name string `json:"name" jsonschema:"name of the skill"`
	File string `json:"file,omitzero" jsonschema:"one of the skill's files; without it the skill's own text"`
}

// load is the tool load_skill.
func (s *skills) load(_ context.Context, args loadArgs) (protocol.Result, error) {
	list, _ := s.current(false)
	i := slices.IndexFunc(list, func(k skill.Skill) bool { return k.Name == args.Name })
	switch {
	case i < 0 && len(list) == 0:
		return tool.Failed("there is no skill named %q; there are no skills at all", args.Name), nil
	case i < 0:
		return tool.Failed("there is no skill named %q; there are: %s", args.Name, names(list)), nil
	case args.File == "":
		return tool.OK(rendered(list[i])), nil
	}
	text, err := list[i].ReadBeside(args.File)
	if err != nil {
		return tool.Failed("%v", err), nil
	}
	return tool.OK(text), nil
}

func names(list []skill.Skill) string {
	var all []string
	for _, s := range list {
		all = append(all, s.Name)
	}
	return strings.Join(all, ", ")
}

const (
	listBegins = "[skills]"
	listEnds   = "[end of skills]"
)

// withList returns a system text with the list of skills in the place of an older one,
// or at its end. There is no list without skills or without the tool to load them.
func withList(system string, list []skill.Skill, canLoad bool) string {
	block := ""
	if canLoad && len(list) > 0 {
		block = listOf(list)
	}
	before, after := system, ""
	if start, end := blockIn(system); end > 0 {
		before, after = system[:start], system[end:]
		if old := system[start:end]; old == block {
			return system
		}
	}
	if block == "" {
		return strings.TrimRight(before, "\n") + after
	}
	if after == "" && before != "" {
		before = strings.TrimRight(before, "\n") + "\n\n"
	}
	return before + block + after
}

// blockIn finds the list in a system text: from a line that begins it to one
// that ends it. No line of the list itself looks like that.
func blockIn(system string) (start, end int) {
	start, at := -1, 0
	for line := range strings.Lines(system) {
		switch strings.TrimRight(line, "\r\n") {
		case listBegins:
			start = at
		case listEnds:
			if start >= 0 {
				return start, at + len(listEnds)
			}
		}
		at += len(line)
	}
	return 0, 0
}

func listOf(list []skill.Skill) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nSkills say how things are done here. Before a task that one of them fits, load it with the tool %s.\n", listBegins, loadSkill)
	for i, s := range list {
		line := "- " + s.Name
		if s.Description != "" {
			line += ": " + s.Description
		}
		if b.Len()+len(line) > maxListed {
			fmt.Fprintf(&b, "- and %d more, by name only: %s\n", len(list)-i, names(list[i:]))
			break
		}
		b.WriteString(line + "\n")
	}
	b.WriteString(listEnds)
	return b.String()
}

// agentKey names an agent in its session: each has a conversation of its own.
func agentKey(ev *protocol.Event) string { return ev.Session.ID + "\x00" + ev.Agent.ID }

// isNested reports whether an event comes from a sub-agent or a nested run of a recipe.
// The depth does not tell: a main agent that a hook started has one, too.
func isNested(ev *protocol.Event) bool { return ev.Agent.Parent != nil }

// object returns a JSON object with one member.
func object(name string, value any) protocol.RawMessage {
	encoded, err := protocol.Marshal(map[string]any{name: value})
	if err != nil {
		return nil // strings and lists of our own types only
	}
	return encoded
}
