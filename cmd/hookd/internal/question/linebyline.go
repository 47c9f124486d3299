package question

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/terminal"
	"github.com/hookd-dev/hookd/protocol"
)

// LineByLine puts questions to the person at the terminal, line by line.
type LineByLine struct {
	p     *show.Printer
	lines *terminal.Lines // what the person types
}

// NewLineByLine returns what puts questions to the person who types these lines.
func NewLineByLine(p *show.Printer, lines *terminal.Lines) LineByLine { return LineByLine{p, lines} }

// AtTerminal returns what asks the person at the terminal, nil if nobody is there. Every
// question is then answered with no.
func AtTerminal(console *cli.Console) agentloop.Approver {
	if !console.PersonReads() {
		return nil
	}
	return LineByLine{console.Err, console.Lines()}
}

// Settling is how long a question waits before it is shown, so that keys that were pressed
// before it reach the line that is being written, where they belong.
const Settling = 100 * time.Millisecond

// Keys are what a person types or presses for an answer, by its kind.
var Keys = map[string]string{"allow-once": "y", "allow-always": "a", "reject-once": "n", "reject-always": "N"}

// typedAnswer returns what a typed line means; known is false for a line that is none of
// the options. An empty line is the plain refusal. What follows n or N is told the model.
func typedAnswer(q *agentloop.Question, typed string) (answer agentloop.Answer, known bool) {
	typed = strings.TrimSpace(typed)
	if typed == "" {
		return agentloop.Answer{OptionID: Refusal(q)}, true
	}
	key, why := typed, ""
	if word, rest, more := strings.Cut(typed, " "); more && isRefusal(word) {
		key, why = word, strings.TrimSpace(rest)
	}
	words := map[string]string{"yes": "y", "Y": "y", "always": "a", "A": "a", "no": "n", "never": "N"}
	if short, isWord := words[key]; isWord {
		key = short
	}
	for _, o := range q.Options {
		if Keys[o.Kind] == key {
			return agentloop.Answer{OptionID: o.OptionID, Text: why}, true
		}
	}
	return agentloop.Answer{OptionID: Refusal(q), Text: why}, isRefusal(key)
}

// isRefusal reports whether a typed line can only mean no.
func isRefusal(typed string) bool {
	word, _, _ := strings.Cut(strings.TrimSpace(typed), " ")
	return word == "n" || word == "N" || word == "no" || word == "never"
}

// Approve shows the question page by page and reads the answer. A yes is taken only after
// all that will run was on the screen. What was typed before that is no answer.
func (t LineByLine) Approve(ctx context.Context, q agentloop.Question) (agentloop.Answer, error) {
	select { // what was told before has to reach the screen first
	case <-time.After(Settling):
	case <-ctx.Done():
		return agentloop.Answer{}, context.Cause(ctx)
	}
	refused, shown, err := t.pages(ctx, Lines(t.p, &q))
	if err != nil || !shown {
		answer, _ := typedAnswer(&q, refused)
		return answer, err
	}
	var ways, keys []string
	for _, o := range q.Options {
		ways = append(ways, fmt.Sprintf("%s = %s", Keys[o.Kind], show.Line(o.Name)))
		keys = append(keys, Keys[o.Kind])
	}
	for {
		typed, open, err := t.read(ctx, "  "+strings.Join(ways, ", ")+" (n WHY tells the model)? [n] ")
		if err != nil {
			return agentloop.Answer{}, err
		}
		answer, known := typedAnswer(&q, typed)
		switch {
		case allows(&q, answer) && t.TooSmall():
			t.p.Print("  the terminal is too small for a yes: make it larger and answer once more, or n = no\n")
			return t.Approve(ctx, q)
		case known || !open: // at the end of input: no
			return answer, nil
		}
		t.p.Print("  type one of %s\n", strings.Join(keys, ", "))
	}
}

// pages shows lines page by page. shown is false if the person refused, with these words, or
// input ended before the last line was on the screen.
func (t LineByLine) pages(ctx context.Context, lines []string) (refused string, shown bool, err error) {
	for at, page := 0, t.page(); at < len(lines); {
		end := min(at+page, len(lines))
		t.p.Raw(strings.Join(lines[at:end], "\n") + "\n")
		if at = end; at == len(lines) {
			break
		}
		typed, open, err := t.read(ctx, "  "+HiddenText(lines[at:])+". enter = more, all = the rest, n = no: ")
		switch {
		case err != nil:
			return "", false, err
		case !open || isRefusal(typed):
			return typed, false, nil
		case strings.TrimSpace(typed) == "all":
			page = len(lines)
		case strings.TrimSpace(typed) != "":
			t.p.Print("  %s\n", "a yes counts after all of it was shown")
		}
	}
	return "", true, nil
}

// Show shows lines page by page, for a question of another form, and reports whether all of
// them were shown: the person may refuse before.
func (t LineByLine) Show(ctx context.Context, lines []string) (shown bool, err error) {
	_, shown, err = t.pages(ctx, lines)
	return shown, err
}

// Fits reports whether so many lines are on the screen at once.
func (t LineByLine) Fits(lines int) bool { return lines <= t.page() }

// allows reports whether an answer is a yes.
func allows(q *agentloop.Question, answer agentloop.Answer) bool {
	return slices.ContainsFunc(q.Options, func(o protocol.PermissionOption) bool {
		return o.OptionID == answer.OptionID && !strings.HasPrefix(o.Kind, "reject")
	})
}

// The smallest terminal on which a question can be judged.
const LeastWidth, LeastHeight = 20, 3

// TooSmall reports whether nobody can judge a question at the size that the terminal has.
// One that does not know its size is not too small.
func (t LineByLine) TooSmall() bool {
	width, height := t.lines.Size()
	return width > 0 && width < LeastWidth || height > 0 && height < LeastHeight
}

// read asks for a line. What came before it was asked for is dropped.
func (t LineByLine) read(ctx context.Context, prompt string) (line string, open bool, err error) {
	t.lines.Drop()
	t.p.Print("%s", prompt)
	line, open, err = t.lines.Next(ctx)
	if err != nil || !open {
		t.p.Print("\n")
	}
	return line, open, err
}

// page returns how many lines the terminal shows at once, without the prompt.
func (t LineByLine) page() int {
	const unknown, least, prompt = 24, 3, 3
	_, height := t.lines.Size()
	if height <= 0 {
		height = unknown
	}
	return max(height-prompt, least)
}
