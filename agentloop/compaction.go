package agentloop

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hookd-dev/hookd/agentloop/internal/conversation"
	"github.com/hookd-dev/hookd/agentloop/recipe"
	"github.com/hookd-dev/hookd/protocol"
)

// compaction is one compaction of a run's conversation.
type compaction struct {
	run          *agentRun
	trigger      string // threshold manual hook
	recipe       *recipe.Recipe
	text         string      // of the recipe
	instructions string      // beyond the recipe's
	by           *recipeCall // nil: by hand
}

// layer returns the layer of the hook that asked for the compaction.
func (c *compaction) layer() protocol.Layer {
	if c.by == nil {
		return protocol.Builtin
	}
	return c.by.hook.Layer
}

// refusedBy is the error of a compaction that hooks refused.
type refusedBy struct{ by, reason string }

func (b refusedBy) Error() string { return b.reason }

var errNothingToCompact = errors.New("there is nothing to compact: all of the conversation is to be kept")

// compact runs the recipe and puts its text, the summary, in the place of what it sums up.
// It returns the summary. After an error the conversation is as it was; an error
// that is a [*runEnd] ends the run, as does the context's end.
func (c *compaction) compact(ctx context.Context) (summary string, err error) {
	r := c.run
	messages, keep := r.agent.history.Messages(), &r.agent.session.Compaction
	split := conversation.SplitForCompaction(messages, keep.KeepFirst, keep.KeepLast, c.layer())
	if len(split.Summed) == 0 {
		return "", errNothingToCompact
	}
	before := protocol.Measures{Messages: len(messages), Tokens: r.usage.Sum().ContextTokens}
	fired := protocol.CompactStartData{Trigger: c.trigger, Recipe: c.recipe.Name, Instructions: c.instructions, Before: before}
	v, err := r.events.fire(ctx, protocol.CompactStart, fired)
	if err != nil {
		return "", err
	}
	if v.Action == protocol.Stop {
		return "", v.refusal()
	}
	if !v.passed() {
		return "", refusedBy{v.by(), v.RefusalText()}
	}
	data, err := decided(v, fired)
	if err != nil {
		return "", err
	}
	prompt := Prompt{Text: c.text, context: v.contextParts()}
	if data.Instructions != "" {
		prompt.Text += "\n\nFurther instructions:\n" + data.Instructions
	}
	if summary, err = (&nestedRun{r, c.recipe, c.by}).answer(ctx, prompt); err != nil {
		return "", notEnding(err)
	}
	return summary, c.apply(ctx, split, protocol.CompactEndData{
		Trigger: c.trigger, Recipe: c.recipe.Name, Before: before, Summary: summary,
	})
}

// apply fires compact-end and replaces the conversation. What hooks say at
// compact-end follows the summary, so it is known before the one write that replaces
// everything.
func (c *compaction) apply(ctx context.Context, split conversation.Split, fired protocol.CompactEndData) error {
	fired.After.Messages = len(split.Join(fired.Summary, nil))
	r := c.run
	v, err := r.events.fire(ctx, protocol.CompactEnd, fired)
	if err != nil {
		return err
	}
	messages := split.Join(fired.Summary, v.contextParts())
	if fault := conversation.Check(messages); fault != nil {
		return fmt.Errorf("the compacted conversation is not well-formed: %w", fault)
	}
	if err := r.agent.history.Replace(messages); err != nil {
		return internal(err)
	}
	r.usage.ContextReplaced()
	return v.refusal()
}

// byHand is a whole run: a compaction that a person asked for.
func (c *compaction) byHand(ctx context.Context) {
	r := c.run
	r.began = time.Now()
	summary := ""
	err := r.sessionStart(ctx)
	if err == nil {
		summary, err = c.compact(ctx)
	}
	r.result = Result{Response: summary, Usage: r.usage.Sum()}
	var end *runEnd
	var refused refusedBy
	var failed *Error
	switch {
	case err == nil:
		r.result.StopReason = "done"
	case ctx.Err() != nil:
		r.result.StopReason, r.err = "aborted", context.Cause(ctx)
	case errors.As(err, &end) && end.stopReason != "":
		r.result.StopReason = end.stopReason
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
}
