package agentloop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/agentloop/builtin"
	"github.com/hookd-dev/hookd/agentloop/recipe"
)

// runRecipes runs the recipes that hooks asked for and that wait. Its error ends the run; a
// recipe that came to nothing is reported and does not.
func (r *agentRun) runRecipes(ctx context.Context) error {
	for {
		call, is := r.events.calls.next()
		if !is {
			return nil
		}
		err := r.runRecipe(ctx, &call)
		var end *runEnd
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.As(err, &end):
			return end
		case errors.As(err, new(refusedBy)): // compact-start says who and why
		default:
			r.events.recipeDropped(ctx, &call, err.Error())
		}
	}
}

func (r *agentRun) runRecipe(ctx context.Context, call *recipeCall) error {
	rec, text, err := r.agent.render(call.hook.Layer, call.Name, call.Args)
	if err != nil {
		return err
	}
	if call.isForHook() {
		return r.runForHook(ctx, call, rec, text)
	}
	trigger := "hook"
	if call.hook == builtin.CompactionHook {
		trigger = "threshold"
	}
	c := compaction{run: r, trigger: trigger, recipe: rec, text: text, by: call}
	_, err = c.compact(ctx)
	return err
}

// runForHook hands a recipe's text to the hook that asked for it.
func (r *agentRun) runForHook(ctx context.Context, call *recipeCall, rec *recipe.Recipe, text string) error {
	deliver := r.agent.session.Gate.CallbackResult(r.agent.session.id.ID, r.agent.id.ID, call.hook)
	if deliver == nil {
		return errors.New("this gate cannot hand a text to a hook")
	}
	result, err := (&nestedRun{r, rec, call}).answer(ctx, Prompt{Text: text})
	if err != nil {
		return notEnding(err)
	}
	deliver(result)
	return nil
}

// notEnding returns the error of a nested run for the run that it worked for: however the
// nested run ended, this run goes on.
func notEnding(err error) error {
	if err == nil || !errors.As(err, new(*runEnd)) {
		return err
	}
	return errors.New(err.Error())
}

// nestedRun is the run of a recipe on a copy of its parent's conversation, which stays as it
// is. All gates fire in it as ever, but automatic compaction is off, it has no tools but the
// recipe's, and the hook that asked is not asked again about events of the name it asked at.
type nestedRun struct {
	parent *agentRun
	recipe *recipe.Recipe
	by     *recipeCall // nil: by hand
}

// answer returns the text of the recipe's answer. A recipe may run one level below the deepest
// sub-agent, whose conversation grows too.
func (n *nestedRun) answer(ctx context.Context, prompt Prompt) (string, error) {
	r := n.parent
	if most := r.agent.session.Limits.depth() + 1; r.agent.depth >= most {
		return "", fmt.Errorf("recipes and sub-agents are started %d deep at most", most)
	}
	a := r.agent.child(r.agent.history.Copy())
	if err := a.history.AddMissingResults(); err != nil {
		return "", err
	}
	a.compaction.Auto = false
	a.forRecipe(n.recipe)
	if n.by != nil {
		a.skipHook(n.by.event, n.by.hook)
	}
	run := newAgentRun(ctx, a, r, nil)
	r.reportMissingTools(ctx, n.recipe, a)
	prompt.Source = "recipe"
	run.runAll(prompt)
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case run.err != nil:
		return "", run.err
	case run.result.StopReason != "done":
		return "", fmt.Errorf("its run ended early (%s)", run.result.StopReason)
	case strings.TrimSpace(run.result.Response) == "":
		return "", errors.New("its answer is empty")
	}
	return run.result.Response, nil
}

// reportMissingTools tells the person of tools that a recipe may use and that the agent that
// runs it does not have: a name that is written wrong, or a server that has not started.
func (r *agentRun) reportMissingTools(ctx context.Context, rec *recipe.Recipe, by *agent) {
	names := by.tools.Names()
	for _, name := range rec.AllowedTools {
		if !slices.Contains(names, name) {
			r.events.notify(ctx, "info", fmt.Sprintf("recipe %s may use the tool %s, which is not there", rec.Name, name))
		}
	}
}
