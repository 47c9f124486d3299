package chat

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/question"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/protocol"
)

// asking is a question to the person. A question that is longer than the screen is shown
// in parts, and a yes counts only after the last part was shown.
type asking struct {
	question agentloop.Question
	reply    chan<- agentloop.Answer
	chosen   int // of the options; the one after them is to refuse and say why

	lines         []string // all that it is about, for the size below
	width, height int
	at            int       // first line that is shown
	drawn         time.Time // when the part with the end was first drawn

	early      bool // a yes came too early to count
	explaining bool // the person writes why not
	why        string
}

// minShown is how long a question must be shown before a yes is taken: a key that was
// pressed as the question came up was meant for something else.
const minShown = 150 * time.Millisecond

// minPause is how long before a yes no key that writes may have been pressed: a person who
// is writing goes on for a moment, and a key that is held down repeats itself.
const minPause = 700 * time.Millisecond

// newAsking shows the refusal first: enter on a question that came up while the
// person was writing must not be a yes.
func newAsking(msg askMsg) *asking {
	a := &asking{question: msg.question, reply: msg.reply}
	for i, o := range msg.question.Options {
		if o.Kind == "reject-once" {
			a.chosen = i
		}
	}
	return a
}

// fit lays the question out for the size of the terminal. Another size begins anew.
func (a *asking) fit(p *show.Printer, height int) {
	if a.lines != nil && a.width == p.Width && a.height == height {
		return
	}
	a.lines, a.width, a.height = question.Lines(p, &a.question), p.Width, height
	a.at, a.drawn = 0, time.Time{}
}

// compact reports whether the options have to share a line.
func (a *asking) compact() bool { return a.height < 12 }

// room returns how many lines of the question are shown at once.
func (a *asking) room() int {
	below := len(a.question.Options) + 1
	if a.compact() {
		below = 1
	}
	return max(a.height-below-2, 1)
}

func (a *asking) end() int { return min(a.at+a.room(), len(a.lines)) }

// judged reports whether all of it has been on the screen for long enough.
func (a *asking) judged(now time.Time) bool { return !a.drawn.IsZero() && now.Sub(a.drawn) >= minShown }

// turn shows another part of the question.
func (a *asking) turn(pages int) {
	a.at = min(max(a.at+pages*a.room(), 0), max(len(a.lines)-1, 0)/a.room()*a.room())
}

// answerKey takes a key that is pressed while a question is shown.
func (s *screen) answerKey(k tea.KeyPressMsg) []effect {
	a, name := s.asked[0], k.String()
	if a.explaining {
		return s.explain(k)
	}
	a.fit(s.talk.p, s.height)
	options, whole := a.question.Options, a.end() == len(a.lines)
	if name == "shift+n" {
		name = "N"
	}
	switch name {
	case "pgdown", "space", " ":
		a.turn(1)
	case "pgup":
		a.turn(-1)
	case "up", "left", "shift+tab":
		a.chosen = (a.chosen + len(options)) % (len(options) + 1)
	case "down", "right", "tab":
		a.chosen = (a.chosen + 1) % (len(options) + 1)
	case "w":
		a.explaining = true
	case "enter":
		switch {
		case a.chosen == len(options):
			a.explaining = true
		case !whole:
			a.turn(1)
		default:
			return s.choose(a.chosen, true)
		}
	default:
		for i, o := range options {
			if question.Keys[o.Kind] == name || name == fmt.Sprint(i+1) {
				return s.choose(i, !k.IsRepeat && s.talk.now().Sub(s.wrote) >= minPause)
			}
		}
	}
	return nil
}

// choose answers with an option. One that allows counts only after all was shown, and if
// the key was meant for it.
func (s *screen) choose(i int, meant bool) []effect {
	a := s.asked[0]
	refuses := i < len(a.question.Options) && strings.HasPrefix(a.question.Options[i].Kind, "reject")
	if refuses {
		return s.answer(i, "")
	}
	if whole := a.end() == len(a.lines); s.small || !whole {
		return nil
	}
	if !meant || !a.judged(s.talk.now()) {
		a.early = true
		return nil
	}
	return s.answer(i, "")
}

// explain takes what the person writes to the model with a refusal.
func (s *screen) explain(k tea.KeyPressMsg) []effect {
	a := s.asked[0]
	switch runes := []rune(a.why); {
	case k.String() == "enter":
		refusal := question.Refusal(&a.question)
		return s.answer(slices.IndexFunc(a.question.Options, func(o protocol.PermissionOption) bool { return o.OptionID == refusal }), strings.TrimSpace(a.why))
	case k.String() == "backspace" && len(runes) > 0:
		a.why = string(runes[:len(runes)-1])
	case k.Text != "":
		a.why += k.Text
	}
	return nil
}

// aboutWidth is how much of a question stands in the line that tells how it was answered: the
// call has a line of its own.
const aboutWidth = 40

func (s *screen) answer(i int, why string) []effect {
	a := s.asked[0]
	s.asked = s.asked[1:]
	answer := agentloop.Answer{Text: why}
	if i >= 0 && i < len(a.question.Options) {
		o := a.question.Options[i]
		answer.OptionID = o.OptionID
		said := show.Line(o.Name)
		if why != "" {
			said += ": " + show.Line(why)
		}
		s.aside(fmt.Sprintf("    %s %s: %s", s.talk.p.In(show.Warn, "?"), show.Shorten(question.About(&a.question), aboutWidth), s.talk.p.In(show.Strong, said)))
	}
	return []effect{answerEffect{a.reply, answer}}
}

// withdraw removes a question that nobody waits for any more.
func (s *screen) withdraw(reply chan<- agentloop.Answer) {
	for i, a := range s.asked {
		if a.reply == reply {
			s.asked = append(s.asked[:i], s.asked[i+1:]...)
			return
		}
	}
}

// view returns the question as it is shown, in no more lines than the terminal has.
func (a *asking) view(p *show.Printer, height int, now time.Time) []string {
	a.fit(p, height)
	lines := slices.Clone(a.lines[a.at:a.end()])
	if rest := a.lines[a.end():]; len(rest) > 0 {
		lines = append(lines, p.In(show.Warn, show.Shorten("  "+question.HiddenText(rest)+": space goes on, pgup back", max(p.Width, 20))))
	} else {
		if a.drawn.IsZero() {
			a.drawn = now
		}
		if a.at > 0 {
			lines = append(lines, p.In(show.Quiet, "  the end; pgup goes back"))
		}
	}
	if a.explaining {
		return append(lines, a.whyLine(max(p.Width, 20)))
	}
	return append(lines, a.options(p)...)
}

// whyLine is what the person writes to the model: the end of it, where it is longer than the
// line.
func (a *asking) whyLine(width int) string {
	head := "  why not, for the model (enter sends): "
	if width < 60 {
		head = "  why not: "
	}
	why := []rune(show.Line(a.why))
	for room := width - show.Width(head) - 2; show.Width(string(why)) > room && len(why) > 1; {
		why = why[1:]
	}
	return head + string(why) + "▏"
}

// tooEarly replaces the last line when a yes came too early to count.
const tooEarly = "  too early for a yes: wait a second, press again"

// options returns the answers as they are shown. Those that allow are offered with the
// last part.
func (a *asking) options(p *show.Printer) []string {
	whole := a.end() == len(a.lines)
	var list []string
	add := func(i int, text string, offered bool) {
		mark, tone := "  ", show.Plain
		if i == a.chosen {
			mark, tone = "▸ ", show.Strong
		}
		if !offered {
			tone, text = show.Quiet, text+", after all was shown"
		}
		list = append(list, "  "+mark+p.In(tone, text))
	}
	for i, o := range a.question.Options {
		add(i, fmt.Sprintf("%s (%s)", show.Line(o.Name), question.Keys[o.Kind]), whole || strings.HasPrefix(o.Kind, "reject"))
	}
	add(len(a.question.Options), "Reject and say why (w)", true)
	if !a.compact() {
		if a.early {
			list[len(list)-1] = p.In(show.Warn, tooEarly)
		}
		return list
	}
	keys := "  n no · w no, because … · space more"
	if whole {
		keys = "  y yes · a always · n no · w no, because …"
	}
	if a.early {
		keys = tooEarly
	}
	return []string{show.Shorten(keys, max(p.Width, 20))}
}
