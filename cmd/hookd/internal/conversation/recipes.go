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
	"github.com/hookd-dev/hookd/internal/shellwords"
	"github.com/hookd-dev/hookd/loader"
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
	snapshot := watcher.Snapshot()
	library, findings := recipe.New(recipeFiles(snapshot)...)
	for _, f := range findings {
		for _, m := range snapshot.Resources {
			if m.Kind == loader.KindRecipe && m.Use == f.Path { // a private copy, of which nobody knows
				f.Path = m.Path
			}
		}
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

// Named is something that a person may call by its name.
type Named struct{ Name, Args, Description string }

// Recipes returns the recipes that a person may run.
func (c *Conversation) Recipes() (list []Named) {
	for _, r := range c.recipes.List() {
		var args []string
		for _, a := range r.Arguments {
			form := a.Name + "=…"
			if !a.Required {
				form = "[" + form + "]"
			}
			args = append(args, form)
		}
		list = append(list, Named{r.Name, strings.Join(args, " "), r.Description})
	}
	return list
}

// IsRecipe reports whether /NAME runs a recipe. A skill of that name counts before it.
func (c *Conversation) IsRecipe(name string) bool {
	if slices.ContainsFunc(c.Skills(), func(s Named) bool { return s.Name == name }) {
		return false
	}
	_, err := c.recipes.Get(name)
	return err == nil
}

// RunRecipe runs a recipe with arguments as a person writes them: KEY=VALUE in words of the
// shell. If the recipe has one argument, the line may be its value as it is.
func (c *Conversation) RunRecipe(ctx context.Context, name, line string) (*agentloop.Run, error) {
	if c.isCompaction(name) {
		return c.Compact(ctx, line)
	}
	r, err := c.recipes.Get(name)
	if err != nil {
		return nil, fmt.Errorf("recipe %s: %w", name, err)
	}
	args, err := recipeArgs(r, line)
	if err != nil {
		return nil, fmt.Errorf("recipe %s: %w", name, err)
	}
	return c.Begin(ctx, &Flags{Recipe: name, Args: args}, agentloop.Prompt{})
}

// literalWords returns the words of a line as a shell reads them. What a shell would fill in
// is refused: nothing is filled in here.
func literalWords(line string) ([]string, error) {
	split := shellwords.Split("recipe " + line) // with a program first, KEY=VALUE is an argument
	if split.Err != nil || len(split.Commands) != 1 || len(split.Commands[0].Writes) > 0 || split.Commands[0].Input != "" {
		return nil, errors.New("the arguments cannot be read; a value with blanks or signs of the shell is quoted: KEY='A B'")
	}
	var words []string
	for _, word := range split.Commands[0].Words[1:] {
		if !word.Literal {
			return nil, fmt.Errorf("nothing is filled in here: %s; quote it: KEY='A $B'", show.Shorten(word.Text, 80))
		}
		words = append(words, word.Text)
	}
	return words, nil
}

func recipeArgs(r *recipe.Recipe, line string) (map[string]string, error) {
	args := map[string]string{}
	if line == "" {
		return args, nil
	}
	if len(r.Arguments) == 1 && !strings.HasPrefix(line, r.Arguments[0].Name+"=") {
		args[r.Arguments[0].Name] = line
		return args, nil
	}
	words, err := literalWords(line)
	if err != nil {
		return nil, err
	}
	for _, word := range words {
		key, value, ok := strings.Cut(word, "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("%q is no KEY=VALUE; a value with blanks is quoted: KEY='A B'", show.Shorten(word, 80))
		}
		if _, twice := args[key]; twice {
			return nil, fmt.Errorf("%s is given twice", key)
		}
		args[key] = value
	}
	return args, nil
}
