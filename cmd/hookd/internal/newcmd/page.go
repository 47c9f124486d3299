package newcmd

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"text/template"

	"github.com/hookd-dev/hookd/protocol"
)

// page is what the templates name.
type page struct {
	naming
	look
	trials

	Does       string // what it does, as a sentence goes on: refuses a prompt that holds "x"
	Event      protocol.EventName
	Can        protocol.Class
	Tools      string // match.tool
	OnFailure  string
	Answer     answer
	Says, Text string // what it says: the name of that (reason, notice, context, instead), and the text
	Others     string // what else it may answer
}

// naming is how the hook is called.
type naming struct {
	Name   string
	Base   string // the same without .go
	Build  string // the line that builds it
	Module bool   // its name says that it is a JavaScript module
}

// look is what the hook looks for, and where.
type look struct {
	Word        string
	Outer, Leaf string // the member that it looks at, and the one that holds that, if any
	Var         string
	Parts       bool // a text, or a list of parts
	Equals      bool // the value is the word, and not a text that holds it
	Number      bool
}

// Closed reports whether its failure refuses.
func (p *page) Closed() bool {
	return p.OnFailure == string(protocol.RuleBlock) && protocol.Lookup(p.Event).Block != protocol.BlockFails
}

// trials are two tests: of a value that it finds something in, and of one where it does not.
type trials struct {
	Hit, Miss    string // their names
	Hits, Misses string // the values
	Given        string // how a test gives a value, "" for the event's data
	Expect       string // what comes out of a hit
}

// Path is the path of the member that the hook looks at.
func (p *page) Path() string { return "data." + p.member() }

func (p *page) member() string { return strings.TrimPrefix(p.Outer+"."+p.Leaf, ".") }

// Header is the first line of the hook's own description.
func (p *page) Header() string {
	header := "events=" + string(p.Event)
	if p.Tools != "" {
		header += " match.tool=" + p.Tools
	}
	return header + " can=" + string(p.Can)
}

// Limits is the second one.
func (p *page) Limits() string {
	if p.OnFailure == "" {
		return "timeout=5s"
	}
	return "onFailure=" + p.OnFailure + " timeout=5s"
}

// usualWord is what hooks of templates look for where nothing else fits better.
const usualWord = "forbidden"

// newPage returns the page of a hook with a class at an event.
func newPage(spec *protocol.Spec, can protocol.Class) *page {
	s, does := subjectOf(spec.Name), answerOf(spec, can)
	p := &page{Event: spec.Name, Can: can, Answer: does, Others: othersAt(spec, can, does)}
	p.look = look{Word: usualWord, Var: s.name, Parts: s.form == parts, Number: s.form == number, Equals: s.form == equals || s.form == number}
	if s.word != "" {
		p.Word = s.word
	}
	noun := s.noun
	if does == grants { // a part of a command is no reason for a yes
		p.Equals, p.Word, noun = true, "git status", "a question about the shell command"
	}
	p.Leaf = s.member
	if outer, leaf, is := strings.Cut(s.member, "."); is {
		p.Outer, p.Leaf = outer, leaf
	}
	if strings.HasPrefix(s.member, "args.") {
		p.Tools = "@shell"
	}
	p.Says, p.Text = p.says(s)
	if can == protocol.CanBlock || does == changes && spec.Block != protocol.BlockFails {
		p.OnFailure = string(protocol.RuleBlock)
	}
	p.Does = fmt.Sprintf("%s %s %s", verb(spec, does), noun, literal(p))
	p.setTests()
	return p
}

// says returns the name of what the hook says, and the text.
func (p *page) says(s *subject) (name, text string) {
	found := "the word " + p.Word + " is there"
	switch {
	case p.Number:
		found = "this is the last step"
	case p.Equals:
		found = s.member + " is " + p.Word
	case s.word != "":
		found = "the answer still has a " + p.Word
	}
	switch p.Answer {
	case tells:
		return "notice", found
	case informs:
		return "context", "Run the tests before you say that something is done."
	case changes:
		return "instead", "harmless"
	case goesOn:
		return "reason", "go on: " + found
	case grants:
		return "reason", p.Word + " needs no question"
	}
	if p.Word == usualWord {
		return "reason", "the word " + p.Word + " is not allowed here"
	}
	return "reason", "not now: " + found
}

// verb is what the hook does, with what it does that to.
func verb(spec *protocol.Spec, does answer) string {
	switch does {
	case blocks:
		return "refuses"
	case stops:
		return "stops the run at"
	case changes:
		return "changes"
	case informs:
		return "tells the model something at"
	case goesOn:
		return "has the agent go on after"
	case grants:
		return "answers yes to"
	}
	return "tells the person of"
}

// setTests fills in the two tests of what the hook looks for.
func (p *page) setTests() {
	p.Hits, p.Misses, p.Given = "do the "+p.Word+" thing", "ls -la", subjectOf(p.Event).given
	p.Hit, p.Miss = "the word is found", "all else passes"
	switch {
	case p.Number:
		p.Hits, p.Misses = p.Word, "7"
	case p.Equals:
		p.Hits, p.Misses = p.Word, "another"
	}
	text, _ := json.Marshal(p.Text)
	switch p.Answer {
	case tells, informs:
		p.Expect = fmt.Sprintf("{ verdict: observe, %s: %s }", p.Says, text)
	case changes:
		changed, _ := json.Marshal(strings.ReplaceAll(p.Hits, p.Word, p.Text))
		pointer := "/" + strings.ReplaceAll(p.member(), ".", "/")
		if p.Parts {
			p.Expect = "modify" // a text, or a part of a list
			break
		}
		p.Expect = fmt.Sprintf("{ verdict: modify, changed: { %s: %s } }", pointer, changed)
	case grants: // the outcome of a yes has no reason
		p.Expect = string(grants)
	default:
		p.Expect = fmt.Sprintf("{ verdict: %s, reason: %s }", p.Answer, text)
	}
	if p.Answer == blocks && p.Word == usualWord {
		p.Hit, p.Miss = "the word is refused", "all else passes"
		if p.Tools != "" {
			p.Miss = "other commands pass"
		}
	}
}

//go:embed template
var templates embed.FS

var functions = template.FuncMap{
	"upper":   strings.ToUpper,
	"lower":   strings.ToLower,
	"title":   func(s string) string { return strings.ToUpper(s[:1]) + s[1:] },
	"shell":   func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" },
	"quote":   quote,
	"literal": literal,
	// given is how a test gives a value of the member.
	"given": func(p *page, value string) string {
		if !p.Number {
			value = quote(value)
		}
		if p.Given != "" {
			return fmt.Sprintf(p.Given, value)
		}
		return fmt.Sprintf("event: %s\n    data: { %s: %s }", p.Event, p.member(), value)
	},
}

// literal is the word as a program compares it.
func literal(p *page) string {
	if p.Number {
		return p.Word
	}
	return quote(p.Word)
}

func quote(s string) string {
	text, _ := json.Marshal(s)
	return string(text)
}

// fill returns the text of a template.
func fill(name string, p *page) (string, error) {
	t, err := template.New("").Funcs(functions).ParseFS(templates, "template/"+name+".tmpl")
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.ExecuteTemplate(&b, name+".tmpl", p)
	return b.String(), err
}
