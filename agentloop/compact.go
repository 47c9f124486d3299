package agentloop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/agentloop/recipe"
	"github.com/hookd-dev/hookd/protocol"
)

// Compaction is when and how the conversation is compacted.
type Compaction struct {
	protocol.Compaction // as events show it

	// Messages at the beginning and at the end that a compaction leaves as they
	// are. Whatever they say, the first user message stays, prompts that nobody
	// has answered yet, and tool calls that have no result.
	KeepFirst, KeepLast int
}

// compaction is one that is to be done.
type compaction struct {
	trigger      string // threshold manual hook
	recipe       *recipe.Recipe
	text         string      // of the recipe
	instructions string      // beyond the recipe's
	by           *recipeCall // nil: by hand
}

// refusedBy is the error of a compaction that hooks refused.
type refusedBy struct{ by, reason string }

func (b refusedBy) Error() string { return b.reason }

var errNothingToCompact = errors.New("there is nothing to compact: all of the conversation is to be kept")

// compact has a recipe sum the conversation up and puts the text in the place of
// what it sums up. It returns the summary. After an error the conversation is as
// it was; an error that is an [*ending] ends the run, as does the context's end.
func (r *Run) compact(ctx context.Context, c compaction) (summary string, err error) {
	l := r.loop
	parts := l.divide(c.by)
	if len(parts.summed) == 0 {
		return "", errNothingToCompact
	}
	before := protocol.Measures{Messages: len(l.messages), Tokens: r.usage.sum().ContextTokens}
	fired := protocol.CompactStartData{Trigger: c.trigger, Recipe: c.recipe.Name, Instructions: c.instructions, Before: before}
	v, err := r.fire(ctx, protocol.CompactStart, fired)
	if err != nil {
		return "", err
	}
	if v.Action == protocol.Stop {
		return "", v.refusal()
	}
	if !v.passed() {
		return "", refusedBy{v.by(), v.told()}
	}
	data, err := decided(v, fired)
	if err != nil {
		return "", err
	}
	prompt := Prompt{Text: c.text, behind: v.contextParts()}
	if data.Instructions != "" {
		prompt.Text += "\n\nFurther instructions:\n" + data.Instructions
	}
	if summary, err = r.thread(ctx, c.recipe, prompt, c.by); err != nil {
		return "", notEnding(err)
	}
	return summary, r.apply(ctx, parts, summary, protocol.CompactEndData{
		Trigger: c.trigger, Recipe: c.recipe.Name, Before: before, Summary: summary,
	})
}

// apply fires compact-end and replaces the conversation. What hooks say at
// compact-end stands behind the summary, so it is known before the one write
// that replaces everything.
func (r *Run) apply(ctx context.Context, parts division, summary string, fired protocol.CompactEndData) error {
	fired.After.Messages = len(parts.join(summary, nil))
	v, err := r.fire(ctx, protocol.CompactEnd, fired)
	if err != nil {
		return err
	}
	messages := parts.join(summary, v.contextParts())
	if err := checkConversation(messages); err != nil {
		return fmt.Errorf("the compacted conversation is not well-formed: %w", err)
	}
	if err := r.loop.replace(messages); err != nil {
		return err
	}
	r.usage.contextGone()
	return v.refusal()
}

// Compact sums the conversation up by a recipe, compact if it is "", and leaves
// the summary in its place; instructions, which may be empty, are added to the
// recipe's text. Read the run's events, then Wait: it returns an [*Error] if the
// conversation is as it was, because a hook refused or the recipe came to
// nothing. No agent-start and no agent-end fires but those of the recipe's own
// thread. The run's response is the summary.
func (l *Loop) Compact(ctx context.Context, name, instructions string) (*Run, error) {
	rec, text, err := l.render(protocol.Builtin, cmp.Or(name, "compact"), nil)
	if err != nil {
		return nil, fmt.Errorf("agent loop: %w", err)
	}
	return l.start(ctx, func(r *Run) {
		r.began = time.Now()
		err := r.sessionStart(ctx)
		summary := ""
		if err == nil {
			summary, err = r.compact(ctx, compaction{trigger: "manual", recipe: rec, text: text, instructions: strings.TrimSpace(instructions)})
		}
		r.compacted(ctx, summary, err)
	})
}

// compacted is what a compaction by hand came to.
func (r *Run) compacted(ctx context.Context, summary string, err error) {
	r.result = Result{Response: summary, StopReason: "done", Usage: r.usage.sum()}
	var end *ending
	var refused refusedBy
	var failed *Error
	switch {
	case err == nil:
		return
	case ctx.Err() != nil:
		r.result.StopReason, r.err = "aborted", context.Cause(ctx)
		return
	case errors.As(err, &end) && end.stopReason != "":
		r.result.StopReason = end.stopReason
		return
	case errors.As(err, &end):
		r.err = &Error{Cause: end.cause, By: end.by, Message: end.message, err: end.err}
	case errors.As(err, &refused):
		r.err = &Error{Cause: "blocked", By: refused.by, Message: refused.reason}
	case errors.As(err, &failed):
		r.err = &Error{Cause: failed.Cause, By: failed.By, Message: "not compacted: " + failed.Message, err: failed}
	case errors.Is(err, errNothingToCompact):
		r.err = &Error{Cause: "limit", Message: err.Error(), err: err}
	default:
		r.err = &Error{Cause: "model", Message: "not compacted: " + err.Error(), err: err}
	}
	r.result.StopReason = ""
}
