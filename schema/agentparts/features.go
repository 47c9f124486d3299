package agentparts

import "strings"

// Feature is a feature of the agent loop that is compiled in, as the settings
// agent.providers and agent.features name it.
type Feature struct {
	Name    string
	On      bool   // without a setting
	Flag    string // of hookd run that alone switches it on, "" if settings do
	Meaning string

	// Keeps are the settings that the feature puts into force. A layer that sets
	// one keeps the feature on against every layer below it.
	Keeps []string
}

// Features is the table of features. The program makes each of them; a test
// holds the two to each other.
var Features = []Feature{
	{Name: "steps", On: true, Meaning: "ends a run after so many model calls", Keeps: []string{"agent.limits.steps"}},
	{Name: "tokens", On: true, Meaning: "ends a run after so many output tokens", Keeps: []string{"agent.limits.tokens"}},
	{Name: "time", On: true, Meaning: "ends a run after so much time", Keeps: []string{"agent.limits.time"}},
	{Name: "budget", On: true, Meaning: "ends a run that costs too much money or too many tokens", Keeps: []string{"agent.limits.cost", "agent.limits.totalTokens"}},
	{Name: "retries", On: true, Meaning: "limits how often a failed model call is tried again", Keeps: []string{"agent.limits.retries"}},
	{Name: "done", On: true, Meaning: "ends a run when the model asks for no more tools"},
	{Name: "bash", On: true, Meaning: "keeps the lists of commands that never run, or run without asking", Keeps: []string{"agent.tools.bash.deny", "agent.tools.bash.allow"}},
	{Name: "approval", On: true, Meaning: "answers hooks that ask about a tool call, and remembers what a person answered with always", Keeps: []string{"agent.approval.mode"}},
	{Name: "instructions", On: true, Meaning: "tells the model the folder, the system, the date, and what the `AGENTS.md` files of the project and of your own say", Keeps: []string{"agent.instructions.limit"}},
	{Name: "skills", On: true, Meaning: "lists skills for the model and adds those that a prompt calls for"},
	{Name: "tasks", On: true, Meaning: "gives the model a list of tasks and reminds it of them"},
	{Name: "compact", On: true, Meaning: "compacts the conversation at the threshold"},
	{Name: "subagents", On: true, Meaning: "lets the model start sub-agents", Keeps: []string{"agent.subagents.depth"}},
	{Name: "metadata", Meaning: "tools with which the model keeps notes for hooks, and reads theirs"},
	{Name: "self-critique", Meaning: "has a final answer judged, and sends one back that is not approved"},
	{Name: "summarize", Meaning: "has the middle of a long conversation summarised before a step"},
	{Name: "structured", Flag: "--schema", Meaning: "holds the final answer to a JSON Schema"},
}

// FeatureByName returns the row of a feature, or nil.
func FeatureByName(name string) *Feature {
	for i := range Features {
		if Features[i].Name == name {
			return &Features[i]
		}
	}
	return nil
}

// FeatureNames returns the names of all features that settings switch, or of those
// that are off without a setting.
func FeatureNames(onlyOff bool) []string {
	var names []string
	for _, b := range Features {
		if b.Flag == "" && (!b.On || !onlyOff) {
			names = append(names, b.Name)
		}
	}
	return names
}

// FeaturesMarkdown returns the table of features for the documentation.
func FeaturesMarkdown() string {
	var out strings.Builder
	out.WriteString("| feature | without a setting | what it does | kept on by |\n|---|---|---|---|\n")
	for _, b := range Features {
		state, keeps := "off", "–"
		if b.On {
			state = "on"
		}
		if b.Flag != "" {
			state = "with `hookd run " + b.Flag + "`"
		}
		if len(b.Keeps) > 0 {
			keeps = "`" + strings.Join(b.Keeps, "`, `") + "`"
		}
		out.WriteString("| `" + b.Name + "` | " + state + " | " + b.Meaning + " | " + keeps + " |\n")
	}
	return out.String()
}
