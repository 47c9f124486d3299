package chat

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/runview"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
)

// dialog is the model of a conversation, whatever shows it. Its methods take what happens
// and return what is to be done.
type dialog struct {
	painter
	now func() time.Time

	isRecipe func(name string) bool // a recipe that /NAME runs; nil: none is
	callable func() []string        // names that may follow a slash; nil: those of the commands
	used     usage

	atWork
	ending ending
	turns  int
	queue  []string  // what the person sent while the turn runs
	last   time.Time // of the last interrupt
	opened openedFold
}

// atWork is what runs: a turn, or a command of the person.
type atWork struct {
	running, aborting bool
	byPerson          bool // a command
	began             time.Time
}

// openedFold is what the key that opens comes to next, while nothing more is folded.
type openedFold struct{ of, next int }

// painter is how a dialog shows itself: a screen and line by line have their own.
type painter struct {
	p    *show.Printer           // for people, under view
	view *runview.TextPrinter    // prints what a turn shows
	say  func(text string)       // prints between what a turn shows
	warn func(mark, text string) // prints what is wrong with a line of the person, see [marked]
}

// ending is how the person ends the conversation, "" as long as it goes on.
type ending string

const (
	hasQuit        ending = "quit"        // in words, or at the end of input
	hasInterrupted ending = "interrupted" // by two interrupts
	beginsAnew     ending = "new"         // and another conversation follows
)

// What happens to a dialog, besides what the person does at the keyboard.
type (
	yieldMsg struct{ agentloop.Update }
	endedMsg struct {
		result     agentloop.Result
		err        error
		notStarted bool // there was no turn, and err says why
	}
	askMsg struct {
		question agentloop.Question
		reply    chan<- agentloop.Answer
	}
	withdrawMsg  struct{ reply chan<- agentloop.Answer }
	toldMsg      string // the answer of a command
	noteMsg      string // of hookd itself, or of a hook that nobody waits for
	interruptMsg struct{}
)

// effect is something that is to be done.
type effect any

type (
	promptEffect  struct{ text, source string }
	commandEffect struct{ name, args string }
	recipeEffect  struct{ name, args string }
	shellEffect   struct{ command string } // of the person
	abortEffect   struct{}
	quitEffect    struct{}
	idleEffect    struct{ last agentloop.Result } // nothing is to be done
)

// againWithin is how soon a second interrupt must follow to end hookd.
const againWithin = 2 * time.Second

// send takes a line of the person: a prompt, a command of the conversation or one for the
// shell.
func (d *dialog) send(text string) []effect {
	if effects, isCommand := d.command(text); isCommand {
		return effects
	}
	if text == "!" {
		d.warn("!", "write a shell command after the !")
		return nil
	}
	if d.running {
		d.queue = append(d.queue, text)
		return nil
	}
	return d.begin(text, "user")
}

// begin begins what a line asks for: a turn, or a shell command of the person.
func (d *dialog) begin(text, source string) []effect {
	d.start()
	if command, isShell := strings.CutPrefix(text, "!"); isShell {
		d.byPerson = true
		return []effect{shellEffect{strings.TrimSpace(command)}}
	}
	d.turns++
	return []effect{promptEffect{text, source}}
}

func (d *dialog) start() {
	d.running, d.began = true, d.now()
	d.used.begin()
	d.view.Begin(d.began)
}

// shown takes one thing that a turn shows.
func (d *dialog) shown(y agentloop.Update) {
	d.used.take(&y)
	d.view.Print(y)
}

// ended takes the end of a turn. What waits is the next one, unless the person aborted or
// the turn failed: then it comes back to be looked at again.
func (d *dialog) ended(msg endedMsg) (effects []effect, back []string) {
	aborted, byPerson := d.aborting, d.byPerson
	d.running, d.aborting, d.byPerson = false, false, false
	d.used.end(msg.result.Usage)
	switch {
	case msg.notStarted:
		d.warn("✗", show.OneLine(msg.err.Error()))
	case aborted:
		d.view.EndAborted()
	case byPerson:
		d.view.ReportEnd(msg.err)
	default:
		d.view.End(msg.result)
		if msg.result.StopReason == "" {
			d.view.ReportEnd(msg.err)
		}
	}
	d.view.Begin(d.now())
	waiting := d.queue
	d.queue = nil
	switch {
	case len(waiting) == 0 && (d.ending != "" || byPerson):
		return nil, nil
	case len(waiting) == 0:
		return []effect{idleEffect{msg.result}}, nil
	case aborted || msg.err != nil:
		return nil, waiting
	}
	d.queue = waiting[1:]
	return d.begin(waiting[0], "follow-up"), nil
}

// interrupt takes an interrupt, or a key that means one: it ends the turn, and the second
// one ends hookd. quiet says that it did neither, so that the caller may do something else.
func (d *dialog) interrupt() (effects []effect, quiet bool) {
	again := d.now().Sub(d.last) < againWithin
	d.last = d.now()
	switch {
	case again:
		return d.end(hasInterrupted), false
	case d.running && !d.aborting:
		d.aborting = true
		return []effect{abortEffect{}}, false
	}
	return nil, !d.running
}

// end ends the conversation.
func (d *dialog) end(how ending) []effect {
	d.ending = how
	return []effect{quitEffect{}}
}

// command carries out a line that begins with a slash. One that is no command is a prompt,
// since skills are called so. A mistyped command is neither.
func (d *dialog) command(text string) (effects []effect, isCommand bool) {
	name, args, _ := strings.Cut(text, " ")
	if !strings.HasPrefix(name, "/") || strings.Contains(text, "\n") {
		return nil, false
	}
	name, args = name[1:], strings.TrimSpace(args)
	known := commandByName(name)
	isRecipe := known == nil && d.isRecipe != nil && d.isRecipe(name)
	switch {
	case d.running && (isRecipe || known != nil && known.between):
		d.warn("!", "/"+show.Line(name)+" works only between turns")
		return nil, true
	case isRecipe:
		d.start()
		d.turns++
		return []effect{recipeEffect{name, args}}, true
	case known != nil:
		return d.known(name, args), true
	}
	if near := d.near(name); near != "" {
		d.warn("!", fmt.Sprintf("there is no /%s; did you mean /%s? (/help lists all)", show.Line(name), near))
		return nil, true
	}
	return nil, false
}

// near returns what a misspelt name was meant to be, "" for the name of a skill and for one that
// no name is near.
func (d *dialog) near(name string) string {
	var names []string
	if d.callable != nil {
		names = d.callable()
	}
	return nearName(name, names)
}

// known carries out a command of the table.
func (d *dialog) known(name, args string) []effect {
	switch name {
	case "quit", "exit":
		return d.end(hasQuit)
	case "new":
		return d.end(beginsAnew)
	case "show":
		d.show(args)
		return nil
	case "cost":
		d.say(d.used.report())
		return nil
	case "compact":
		d.start()
	}
	return []effect{commandEffect{name, args}}
}

// showNext prints what was folded last, and then with each call what was folded before that.
func (d *dialog) showNext() {
	_, last := d.view.Detail(0)
	if last == 0 {
		d.warn("!", "nothing is folded yet")
		return
	}
	if last != d.opened.of {
		d.opened = openedFold{last, last}
	}
	d.show(strconv.Itoa(d.opened.next))
	d.opened.next = max(d.opened.next-1, 1)
}

// show prints what is folded under a number; "" is the last.
func (d *dialog) show(which string) {
	number, err := strconv.Atoi(strings.TrimPrefix(which, "#"))
	body := ""
	if which == "" || err == nil && number > 0 {
		body, _ = d.view.Detail(number)
	}
	if body == "" {
		d.warn("!", "nothing is folded under #"+show.Line(which))
		return
	}
	d.say(body)
}

// marked returns a text with a mark before it: ! for a warning, ✗ for what failed.
func marked(p *show.Printer, mark, text string) string {
	tone := show.Warn
	if mark == "✗" {
		tone = show.Bad
	}
	return p.In(tone, mark) + " " + text
}
