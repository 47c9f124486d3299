package schema

import (
	"time"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema/agentparts"
	"github.com/hookd-dev/hookd/schema/units"
)

const (
	kib = int64(1) << 10
	mib = int64(1) << 20
	gib = int64(1) << 30
)

var rules = []string{string(protocol.RuleContinue), string(protocol.RuleBlock), string(protocol.RuleStop)}

// Keys is the table of settings, in the order of the documentation. Reading,
// merging, the documentation and the JSON Schema all go by it, so adding a
// setting is adding a row.
var Keys = []Key{
	{Name: "hooks.enabled", For: ForOwnHooks, Type: TypeBool, Default: true, Layers: PUM, Tighter: OwnLayer,
		Meaning: "false switches this layer's own hooks off"},
	{Name: "hooks.discover", For: ForOwnHooks, Type: TypeBool, Default: true, Layers: PUM, Tighter: OwnLayer,
		Meaning: "take the files in this layer's `hooks/`"},
	{Name: "hooks.use", For: ForOwnHooks, Type: TypeEntries, Layers: PUM, Tighter: OwnLayer, Unread: Refuses,
		Meaning: "entries that add to what was discovered, or adjust it"},
	{Name: "hooks.required", For: ForEveryone, Type: TypeList, Default: []string{}, Form: "hookname", Layers: PUM, Tighter: Union, Unread: Refuses,
		Meaning: "names of hooks that must answer, even if the hook is missing"},
	{Name: "hooks.timeout", For: ForHooksBelow, Type: TypeDuration, Default: 30 * time.Second, Min: 10 * time.Millisecond, Max: 10 * time.Minute, Layers: PUM, Tighter: Lower, Unread: Refuses,
		Meaning: "time limit for one event, for a hook that states none"},
	{Name: "hooks.budget", For: ForHooksBelow, Type: TypeDuration, Default: 60 * time.Second, Min: 100 * time.Millisecond, Max: 30 * time.Minute, Layers: PUM, Tighter: Lower, Unread: Refuses,
		Meaning: "time for all hooks of one layer that one event waits for; hooks that may fail (`onFailure` continue) share one such time, hooks that must answer another"},
	{Name: "hooks.grace", For: ForHooksBelow, Type: TypeDuration, Default: 500 * time.Millisecond, Min: time.Duration(0), Max: 5 * time.Second, Layers: UM, Tighter: Lower, Unread: time.Duration(0),
		Meaning: "time from TERM to KILL"},
	{Name: "hooks.drain", For: ForHooksBelow, Type: TypeDuration, Default: 5 * time.Second, Min: time.Duration(0), Max: 10 * time.Minute, Layers: UM, Tighter: Free,
		Meaning: "how long observers may still run at exit"},
	{Name: "hooks.maxHooks", For: ForHooksBelow, Type: TypeInt, Default: int64(100), Min: int64(1), Max: int64(10_000), Layers: PUM, Tighter: Lower, Unread: Refuses,
		Meaning: "hooks of one layer; further hooks are reported, not loaded"},
	{Name: "hooks.onFailure", For: ForOwnHooksAtLeast, Type: TypeWord, Words: rules, Layers: PUM, Tighter: OwnLayer, Order: rules, Unread: "stop",
		Meaning: "rule of this layer's hooks that state none, guards included; without it the class decides. The machine's value is also the least strict one that a hook of user or project may have"},
	{Name: "hooks.onToolBlock", For: ForEveryone, Type: TypeWord, Default: "continue", Words: []string{"continue", "stop"}, Layers: PUM, Tighter: ByOrder, Order: []string{"continue", "stop"}, Unread: "stop",
		Meaning: "whether the run goes on after a blocked tool call"},
	{Name: "hooks.parallel", For: ForHooksBelow, Type: TypeInt, Default: int64(1), Min: int64(1), Max: int64(16), Layers: PUM, Tighter: Free,
		Meaning: "blockers that may run at once; a hook runs at the same time as others only if its own layer allows that many"},
	{Name: "hooks.processes", For: ForShared, Type: TypeInt, Default: int64(16), Min: int64(1), Max: int64(1024), Layers: UM, Tighter: Lower, Unread: int64(1),
		Meaning: "hook processes at once; one slot each is reserved for the machine's hooks and for the user's"},
	{Name: "hooks.observerQueue", For: ForHooksBelow, Type: TypeInt, Default: int64(256), Min: int64(1), Max: int64(65_536), Layers: UM, Tighter: Free,
		Meaning: "events that may wait for one observer; more are dropped and counted"},
	{Name: "hooks.maxForced", For: ForHooksBelow, Type: TypeInt, Default: int64(5), Min: int64(0), Max: int64(1000), Layers: PUM, Tighter: Lower, Unread: int64(0),
		Meaning: "forced continuations in a row without a tool call"},
	{Name: "hooks.maxForcedTotal", For: ForHooksBelow, Type: TypeInt, Default: int64(20), Min: int64(0), Max: int64(10_000), Layers: PUM, Tighter: Lower, Unread: int64(0),
		Meaning: "forced continuations since the last user prompt"},
	{Name: "hooks.maxDepth", For: ForHooksBelow, Type: TypeInt, Default: int64(2), Min: int64(1), Max: int64(16), Layers: UM, Tighter: Lower, Unread: int64(1),
		Meaning: "how deep hooks may start agents whose hooks start agents"},
	{Name: "hooks.env", For: ForOwnHooks, Type: TypeList, Default: []string{}, Form: "envname", Layers: PUM, Tighter: OwnLayer,
		Meaning: "names of variables passed to this layer's hooks"},
	{Name: "hooks.path", For: ForOwnHooks, Type: TypeList, Default: []string{}, Form: "pathdir", Layers: PUM, Tighter: OwnLayer,
		Meaning: "folders put before PATH for this layer's hooks"},
	{Name: "hooks.selfProtection", For: ForEveryone, Type: TypeWord, Default: "on", Words: []string{"on", "off"}, Layers: UM, Tighter: ByOrder, Order: []string{"off", "on"}, Unread: "on",
		Meaning: "whether hookd, where another agent calls it, refuses what would switch it off from inside: writes to the hook settings of agents and to hookd's own files"},
	{Name: "hooks.import", For: ForOwnHooks, Type: TypeList, Default: []string{}, Words: []string{"claude", "gemini", "codex", "cursor", "copilot", "openhands", "kodelet"}, Layers: PU, Tighter: OwnLayer, Unread: Refuses,
		Meaning: "other agents whose hooks hookd also takes"},

	limit("event", TypeSize, 32*mib, kib, gib, "one event"),
	limit("reply", TypeSize, mib, 256, gib, "stdout of a hook"),
	limit("stderr", TypeSize, 64*kib, 0, 64*mib, "tail of stderr that is kept"),
	limit("context", TypeSize, 64*kib, 0, 64*mib, "context for the model per event: the machine's hooks first, then the user's, then the project's, and inside a layer a fair share for each"),
	limit("state", TypeSize, 64*kib, 0, 64*mib, "state of one hook in one session"),
	limit("metadata", TypeSize, 16*kib, 0, 64*mib, "metadata of one hook in one session"),
	limit("depth", TypeInt, 512, 8, 10_000, "nesting of JSON"),

	{Name: "hooks.standby.pool", For: ForHooksBelow, Type: TypeInt, Default: int64(1), Min: int64(0), Max: int64(8), Layers: UM, Tighter: Lower, Unread: int64(0),
		Meaning: "waiting processes per standby hook"},
	{Name: "hooks.standby.idle", For: ForHooksBelow, Type: TypeDuration, Default: 5 * time.Minute, Min: time.Second, Max: 24 * time.Hour, Layers: UM, Tighter: Lower, Unread: time.Second,
		Meaning: "time without an event after which a pool shrinks"},
	{Name: "hooks.records.values", For: ForEveryone, Type: TypeWord, Default: "hash", Words: []string{"hash", "full", "none"}, Layers: PUM, Tighter: ByOrder, Order: []string{"full", "hash", "none"}, FixedByManaged: true, ProjectTightens: true, Unread: "none",
		Meaning: "how much of an event its record holds; a project may only move it towards none"},
	{Name: "hooks.records.keep", For: ForEveryone, Type: TypeDuration, Default: 30 * units.Day, Min: time.Duration(0), Max: 3650 * units.Day, Layers: UM, Tighter: Free, FixedByManaged: true,
		Meaning: "how long records are kept"},
	{Name: "hooks.records.maxSize", For: ForEveryone, Type: TypeSize, Default: 256 * mib, Min: mib, Max: 1024 * gib, Layers: UM, Tighter: Free, FixedByManaged: true,
		Meaning: "size of all records together"},
	{Name: "hooks.trust.always", For: ForProjects, Type: TypeList, Default: []string{}, Form: "folder", Layers: U, Tighter: Free,
		Meaning: "folders below which no project is asked about"},
	{Name: "hooks.trust.folders", For: ForProjects, Type: TypeFolders, Layers: UM, Tighter: Union,
		Meaning: "folders in which other owners or group-writable files are accepted: `path`, `owners` (names or numbers), `groupWrite`"},
	{Name: "hooks.trust.hashes", For: ForProjects, Type: TypeList, Default: []string{}, Form: "hash", Layers: UM, Tighter: Union,
		Meaning: "hashes of bundles or projects that are trusted; the user's count only while `hooks.allow` lets project hooks run"},
	{Name: "hooks.allow", For: ForEveryone, Type: TypeList, Default: []string{"managed", "user", "project"}, Words: []string{"managed", "user", "project", "hashes"}, Layers: M, Tighter: Fewer, Unread: []string{"managed"},
		Meaning: "whose hooks run at all; if it cannot be read, only the managed ones"},

	{Name: "agent.model", For: ForRun, Type: TypeText, Default: "", Layers: PUM, Tighter: Free, Unread: Refuses,
		Meaning: "model that the loop calls, and if the machine names it, the only one; a project cannot name one that plays a file"},
	{Name: "agent.provider", For: ForRun, Type: TypeText, Default: "", Layers: PUM, Tighter: Free, Unread: Refuses,
		Meaning: "provider of a model that is named without one; a project cannot name one that plays a file"},
	{Name: "agent.baseUrl", For: ForRun, Type: TypeText, Default: "", Form: "weburl", Layers: UM, Tighter: Free, Unread: Refuses,
		Meaning: "address of the provider that the same file names (`agent.provider`, else `agent.model`, else openai); not used for another"},
	{Name: "agent.headers", For: ForRun, Type: TypeList, Default: []string{}, Form: "header", Layers: UM, Tighter: Free, Unread: Refuses,
		Meaning: "header lines sent to the provider that the same file names, and to no other"},
	{Name: "agent.limits.steps", For: ForRun, Type: TypeInt, Default: int64(20), Min: int64(1), Max: int64(1000), Layers: PUM, Tighter: Lower, Unread: Refuses,
		Meaning: "model calls of a run"},
	{Name: "agent.limits.tokens", For: ForRun, Type: TypeInt, Default: int64(32_768), Min: int64(0), Max: int64(1_000_000_000), Layers: PUM, Tighter: Lower, ZeroIsOff: true, Unread: Refuses,
		Meaning: "output tokens of a run; 0 is no limit"},
	{Name: "agent.limits.totalTokens", For: ForRun, Type: TypeInt, Default: int64(0), Min: int64(0), Max: int64(1_000_000_000_000), Layers: PUM, Tighter: Lower, ZeroIsOff: true, Unread: Refuses,
		Meaning: "input and output tokens of a run together; 0 is no limit"},
	{Name: "agent.limits.cost", For: ForRun, Type: TypeMoney, Default: 0.0, Min: 0.0, Max: 1_000_000.0, Layers: PUM, Tighter: Lower, ZeroIsOff: true, Unread: Refuses,
		Meaning: "USD that a run may cost, by the provider's figures or `agent.prices`; 0 is no limit"},
	{Name: "agent.limits.time", For: ForRun, Type: TypeDuration, Default: 300 * time.Second, Min: 100 * time.Millisecond, Max: 30 * units.Day, Layers: PUM, Tighter: Lower, Unread: Refuses,
		Meaning: "time of a run"},
	{Name: "agent.limits.retries", For: ForRun, Type: TypeInt, Default: int64(3), Min: int64(0), Max: int64(100), Layers: PUM, Tighter: Lower, Unread: int64(0),
		Meaning: "further tries of a failed model call"},
	{Name: "agent.limits.toolCalls", For: ForRun, Type: TypeInt, Default: int64(4), Min: int64(1), Max: int64(64), Layers: PUM, Tighter: Lower, Unread: int64(1),
		Meaning: "tool calls at once"},
	{Name: "agent.compaction.auto", For: ForRun, Type: TypeBool, Default: true, Layers: PUM, Tighter: Free,
		Meaning: "compact the conversation at the threshold"},
	{Name: "agent.compaction.threshold", For: ForRun, Type: TypeShare, Default: 0.80, Min: 0.1, Max: 0.99, Layers: PUM, Tighter: Free,
		Meaning: "share of the context window"},
	{Name: "agent.compaction.recipe", For: ForRun, Type: TypeText, Default: "compact", Layers: PUM, Tighter: Free,
		Meaning: "recipe that writes the summary; a project may name one of its own or a built-in one"},
	{Name: "agent.compaction.keepFirst", For: ForRun, Type: TypeInt, Default: int64(1), Min: int64(0), Max: int64(1000), Layers: PUM, Tighter: Free,
		Meaning: "messages kept at the beginning"},
	{Name: "agent.compaction.keepLast", For: ForRun, Type: TypeInt, Default: int64(0), Min: int64(0), Max: int64(1000), Layers: PUM, Tighter: Free,
		Meaning: "messages kept at the end"},
	{Name: "agent.instructions.limit", For: ForRun, Type: TypeSize, Default: 64 * kib, Min: int64(0), Max: mib, Layers: PUM, Tighter: Lower, ProjectTightens: true, Unread: int64(0),
		Meaning: "bytes of the project's `AGENTS.md` files that the model is given; 0 is none; a project may only lower it"},
	{Name: "agent.summarize.tokens", For: ForRun, Type: TypeInt, Default: int64(60_000), Min: int64(1000), Max: int64(100_000_000), Layers: PUM, Tighter: Free,
		Meaning: "size of a conversation in tokens; above it the feature `summarize` summarises the middle"},
	{Name: "agent.selfCritique.rounds", For: ForRun, Type: TypeInt, Default: int64(2), Min: int64(1), Max: int64(20), Layers: PUM, Tighter: Lower, Unread: int64(1),
		Meaning: "how often the feature `self-critique` may send an answer back for each prompt"},
	{Name: "agent.approval.mode", For: ForRun, Type: TypeWord, Default: "ask", Words: []string{"ask", "deny", "allow"}, Layers: UM, Tighter: ByOrder, Order: []string{"allow", "ask", "deny"}, Unread: "deny",
		Meaning: "who answers when a hook asks about a tool call: the person, always no, or always yes up to the layer that says so"},
	{Name: "agent.approval.tools", For: ForRun, Type: TypeList, Default: []string{}, Form: "allowedtool", Layers: UM, Tighter: Fewer, Unread: []string{},
		Meaning: "tools that run without the loop's own question, which is asked for commands, writes, MCP, network and unknown tools: names, kinds, globs, `/RE2/`. The managed list, even an empty one, is the most that your list and `--allow` can allow. It answers no hook's question"},
	{Name: "agent.approval.whenAlone", For: ForRun, Type: TypeWord, Default: "deny", Words: []string{"deny"}, Layers: UM, Tighter: Free,
		Meaning: "what an ask becomes if no person can answer"},
	{Name: "agent.approval.timeout", For: ForRun, Type: TypeDuration, Default: time.Duration(0), Min: time.Duration(0), Max: 30 * units.Day, Layers: UM, Tighter: Lower, ZeroIsOff: true, Unread: Refuses,
		Meaning: "time after which an unanswered ask is a block; none waits for ever"},
	{Name: "agent.tools.bash.timeout", For: ForRun, Type: TypeDuration, Default: 120 * time.Second, Min: 10 * time.Millisecond, Max: 24 * time.Hour, Layers: PUM, Tighter: Free, Unread: Refuses,
		Meaning: "limit of one command"},
	{Name: "agent.tools.bash.output", For: ForRun, Type: TypeSize, Default: 32 * kib, Min: int64(256), Max: 64 * mib, Layers: PUM, Tighter: Free, Unread: int64(256),
		Meaning: "how much of a command's output the model reads"},
	{Name: "agent.tools.bash.deny", For: ForRun, Type: TypeList, Default: []string{}, Form: "shellpattern", Layers: PUM, Tighter: Union, Unread: []string{"*"},
		Meaning: "commands that never run: exact, glob or `/RE2/`"},
	{Name: "agent.tools.bash.allow", For: ForRun, Type: TypeList, Default: []string{}, Form: "shellpattern", Layers: UM, Tighter: Fewer, Unread: []string{MatchesNothing},
		Meaning: "commands that run without asking; if any is listed, every other command asks"},
	{Name: "agent.tools.env", For: ForRun, Type: TypeList, Default: []string{}, Form: "envname", Layers: PUM, Tighter: Free,
		Meaning: "names of variables passed to the loop's tools; a project cannot pass the keys of models"},
	{Name: "agent.subagents.depth", For: ForRun, Type: TypeInt, Default: int64(3), Min: int64(0), Max: int64(16), Layers: PUM, Tighter: Lower, Unread: int64(0),
		Meaning: "how deep sub-agents may start sub-agents"},
	{Name: "agent.providers", For: ForRun, Type: TypeList, Default: []string{}, Words: agentparts.FeatureNames(false), Layers: PU, Tighter: Union, Unread: Refuses,
		Meaning: "built-in features that are switched off; a feature stays on if a higher layer set what it enforces (its limit, its list of commands)"},
	{Name: "agent.features", For: ForRun, Type: TypeList, Default: []string{}, Words: agentparts.FeatureNames(true), Layers: PUM, Tighter: Union,
		Meaning: "built-in features that are off by default and are switched on"},
	{Name: "agent.prices", For: ForRun, Type: TypePrices, Layers: UM, Tighter: Union, Unread: Refuses,
		Meaning: "what models cost: `model` (exact name or glob), `inputPerMTok`, `outputPerMTok`, `cachedPerMTok`, in USD per million tokens"},
	{Name: "agent.mcpServers", For: ForRun, Type: TypeServers, Layers: PUM, Tighter: Free,
		Meaning: "MCP servers by name, in the shape that other agents use; those of a project need trust, as hooks do"},
}

func limit(name string, t Type, otherwise, low, high int64, meaning string) Key {
	return Key{Name: "hooks.limits." + name, For: ForHooksBelow, Type: t, Default: otherwise, Min: low, Max: high, Layers: UM, Tighter: Lower, Unread: Refuses, Meaning: meaning}
}

// KeyByName returns the row of a setting, or nil.
func KeyByName(name string) *Key {
	for i := range Keys {
		if Keys[i].Name == name {
			return &Keys[i]
		}
	}
	return nil
}
