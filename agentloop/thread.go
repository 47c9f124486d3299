package agentloop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/agentloop/recipe"
	"github.com/hookd-dev/hookd/protocol"
)

// thread runs a recipe in a temporary thread behind the conversation so far, and
// returns the text of its answer. All gates fire in it as ever, but automatic
// compaction is off, it has no tools but the recipe's, and the hook that asked
// is not asked again about events of the name it asked at. The conversation
// stays as it is.
//
// A recipe may run one level below the deepest sub-agent: that one's
// conversation grows as well.
func (r *Run) thread(ctx context.Context, rec *recipe.Recipe, prompt Prompt, by *recipeCall) (string, error) {
	l := r.loop
	if limit := l.options.Limits.depth() + 1; l.depth >= limit {
		return "", fmt.Errorf("recipes and sub-agents are started %d deep at most", limit)
	}
	c := l.child()
	c.messages = slices.Clone(l.messages)
	if err := c.repair(); err != nil {
		return "", err
	}
	c.recipe = rec.Name
	c.options.Compaction.Auto = false
	c.restrict(rec.AllowedTools)
	if by != nil {
		c.silence(by.event, by.hook)
	}
	r.missing(ctx, rec, c.tools)
	prompt.Source = "recipe"
	run := r.child(ctx, c)
	defer run.endFarewell()
	run.rounds(prompt)
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

// missing tells of tools that a recipe may use and that are not there: a name
// that is written wrong, or a server that has not started.
func (r *Run) missing(ctx context.Context, rec *recipe.Recipe, tools *toolList) {
	offered := tools.offered()
	for _, name := range rec.AllowedTools {
		if !slices.ContainsFunc(offered, func(t protocol.Tool) bool { return t.Name == name }) {
			r.notify(ctx, "info", fmt.Sprintf("recipe %s may use the tool %s, which is not there", rec.Name, name))
		}
	}
}

// render finds the recipe that somebody of a layer names, and puts arguments in
// its text. A person, and the loop itself, is of the layer built-in.
func (l *Loop) render(layer protocol.Layer, name string, args map[string]string) (*recipe.Recipe, string, error) {
	rec, err := l.options.Recipes.For(layer, name)
	if err != nil {
		return nil, "", err
	}
	text, err := rec.Render(args)
	return rec, text, err
}

// RunRecipe runs a recipe by hand: its text is the prompt, its answer joins the
// conversation, and for as long as the run goes on the loop has no tools but the
// recipe's. The error names an argument that is missing or not the recipe's.
func (l *Loop) RunRecipe(ctx context.Context, name string, args map[string]string) (*Run, error) {
	rec, text, err := l.render(protocol.Builtin, name, args)
	if err != nil {
		return nil, fmt.Errorf("agent loop: %w", err)
	}
	return l.start(ctx, func(r *Run) {
		lineage, tools, choice := l.lineage, l.tools, l.options.Params.ToolChoice
		defer func() { l.lineage, l.tools, l.options.Params.ToolChoice = lineage, tools, choice }()
		r.lookForTools(ctx, true)
		l.recipe = rec.Name
		l.restrict(rec.AllowedTools)
		r.missing(ctx, rec, l.tools)
		r.rounds(Prompt{Text: text, Source: "recipe", byHand: true})
	})
}
