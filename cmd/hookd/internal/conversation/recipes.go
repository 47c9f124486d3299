package conversation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/agentloop/recipe"
	"github.com/hookd-dev/hookd/agentloop/store"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/engine"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/places"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// compactArg is the only argument of a compaction by hand.
const compactArg = "instructions"

// recipeLibrary returns the recipes that a run may use, and prints what is wrong with the
// others.
func (o *opening) recipeLibrary(e *engine.Engine) *recipe.Library {
	watcher := e.Watcher()
	if watcher == nil {
		library, _ := recipe.New() // a test holds our own to be without fault
		return library
	}
	library, findings := recipe.New(recipeFiles(watcher.Snapshot())...)
	for _, f := range findings {
		o.console.Note(f.String(), resourceRemedy)
	}
	return library
}

// limitCompaction takes out a compaction recipe that the settings of a project name and
// the project itself could not run: a recipe of the user would bring its tools along.
func (o *opening) limitCompaction(library *recipe.Library, settings *schema.Settings) {
	const ours = "compact"
	compaction := &settings.Agent.Compaction
	if compaction.RecipeLayer != protocol.Project || compaction.Recipe == ours {
		return
	}
	theirs, err := library.For(protocol.Project, compaction.Recipe)
	if counts, _ := library.Get(compaction.Recipe); err == nil && theirs == counts {
		return
	}
	if err == nil {
		err = fmt.Errorf("the recipe %s is replaced by one of the user, which the project layer cannot run", compaction.Recipe)
	}
	o.console.Note("agent.compaction.recipe of the project settings has no effect: "+err.Error(), "name a recipe of the project, or name this one in the user settings")
	compaction.Recipe, compaction.RecipeLayer = ours, ""
}

// isCompaction reports whether a recipe, run by hand, puts its answer in the
// place of the conversation.
func (c *Conversation) isCompaction(name string) bool {
	return name != "" && (name == "compact" || name == c.settings.Agent.Compaction.Recipe)
}

// checkRecipe refuses a recipe that cannot be run before anything begins.
func (c *Conversation) checkRecipe(flags *Flags) error {
	if flags.Recipe == "" {
		if len(flags.Args) > 0 {
			return cli.Usage("usage", "--arg is for a recipe", "-r NAME names it")
		}
		return nil
	}
	r, err := c.recipes.Get(flags.Recipe)
	if err != nil {
		return cli.Usage("unknown-recipe", fmt.Sprintf("there is no recipe %.80q", flags.Recipe), "recipes: "+c.recipeNames())
	}
	if c.isCompaction(flags.Recipe) {
		for _, name := range slices.Sorted(maps.Keys(flags.Args)) {
			if name != compactArg {
				return cli.Usage("usage", "a compaction has no argument "+name, "--arg "+compactArg+"=TEXT is added to the recipe")
			}
		}
		if !flags.resumes() {
			return cli.Usage("usage", "there is nothing to compact in a new session", "--follow compacts the session used last, --resume ID that one")
		}
		return nil
	}
	if _, err := r.Render(flags.Args); err != nil {
		return cli.Usage("recipe-args", err.Error(), "--arg KEY=VALUE")
	}
	return nil
}

// recipeNames lists the recipes with what they are for.
func (c *Conversation) recipeNames() string {
	var names []string
	for _, r := range c.recipes.List() {
		text := r.Name
		if r.Description != "" {
			text += " (" + show.Shorten(r.Description, 80) + ")"
		}
		names = append(names, text)
	}
	return strings.Join(names, ", ")
}

// Compact puts a summary in the place of the conversation.
func (c *Conversation) Compact(ctx context.Context, instructions string) (*agentloop.Run, error) {
	run, err := c.Loop.Compact(ctx, cmp.Or(c.settings.Agent.Compaction.Recipe, "compact"), instructions)
	if err != nil {
		return nil, fmt.Errorf("compact: %w", err)
	}
	return run, nil
}

// abandon closes a session in which nothing was begun, and removes the file of a new one.
func (c *Conversation) abandon(resumed string) error {
	err := c.Session.Close()
	if resumed == "" && c.Session.Path() != "" {
		err = errors.Join(err, store.Remove(places.Conversations(c.Engine.StateDir), c.Session.ID()))
	}
	return err
}
