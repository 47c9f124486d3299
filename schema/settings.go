package schema

import (
	"time"

	"github.com/hookd-dev/hookd/protocol"
)

// Settings are the effective settings: every layer merged, every value in range.
// The path of a value is that of its key: hooks.maxHooks is Hooks.MaxHooks. A
// field with the tag mapstructure:"-" has no key of its own, or is decoded apart.
type Settings struct {
	Hooks HookSettings
	Agent AgentSettings
}

// HookSettings rule the running of hooks. The list hooks.use is not here: its
// entries are merged into the hooks they describe.
type HookSettings struct {
	Enabled        map[protocol.Layer]bool
	Discover       map[protocol.Layer]bool
	Required       []string
	Timeout        time.Duration // default limit of a hook, 10ms to 10m
	Budget         time.Duration // all waited-for hooks of one event, 100ms to 30m
	Grace          time.Duration // TERM to KILL, 0 to 5s
	Drain          time.Duration // observers at exit
	MaxHooks       int           // per layer
	OnFailure      map[protocol.Layer]protocol.Rule
	OnToolBlock    protocol.Rule // continue or stop
	Parallel       int           // blockers at once
	Processes      int           // hook processes at once
	ObserverQueue  int           // events per observer
	MaxForced      int
	MaxForcedTotal int
	MaxDepth       int
	Env            map[protocol.Layer][]string
	Path           map[protocol.Layer][]string // folders put before PATH
	Import         map[protocol.Layer][]string
	SelfProtection Switch // on or off, in the guest role
	Limits         Limits
	Standby        StandbySettings
	Records        RecordSettings
	Trust          TrustSettings
	Allow          []string // managed, user, project, hashes

	// Unread are limits that somebody wrote and nobody can read: the hooks that they bind
	// do not run.
	Unread []Unread `mapstructure:"-"`
}

// Switch is on or off.
type Switch string

const (
	On  Switch = "on"
	Off Switch = "off"
)

// TrustSettings say what of projects is trusted without a question.
type TrustSettings struct {
	Always  []string        // folders, of the user layer only
	Folders []TrustedFolder `mapstructure:"-"`
	Hashes  []string
}

// Limits bound what passes in and out of a hook, in bytes. Depth is no size.
type Limits struct {
	Event    int64 // one event
	Reply    int64 // a hook's stdout
	Stderr   int64 // tail that is kept
	Context  int64 // per event, all hooks
	State    int64
	Metadata int64
	Depth    int // nesting of JSON
}

// StandbySettings bound the pools of standby hooks.
type StandbySettings struct {
	Pool int           // processes per hook, 0 to 8
	Idle time.Duration // after which a pool shrinks
}

// RecordSettings say what is kept of decided events.
type RecordSettings struct {
	Values  RecordValues
	Keep    time.Duration
	MaxSize int64 // bytes
}

// RecordValues is how much of an event a record holds.
type RecordValues string

const (
	ValuesNone RecordValues = "none"
	ValuesHash RecordValues = "hash"
	ValuesFull RecordValues = "full"
)

// AgentSettings rule the agent loop.
type AgentSettings struct {
	Model, Provider string
	BaseURL         string
	Headers         []string
	Origins         `mapstructure:"-"`
	Limits          AgentLimits
	Compaction      CompactionSettings
	Approval        ApprovalSettings
	Tools           ToolSettings
	Subagents       SubagentSettings
	Instructions    InstructionSettings
	Summarize       SummarizeSettings
	SelfCritique    SelfCritiqueSettings

	ProvidersOff []string `mapstructure:"providers"` // built-in features that are switched off
	Features     []string // built-in features that are switched on, off by default

	Prices     []Price              `mapstructure:"-"`
	MCPServers map[string]MCPServer `mapstructure:"-"`

	// Unread are limits that somebody wrote and nobody can read: no run starts.
	Unread []Unread `mapstructure:"-"`
}

// SubagentSettings bound the agents that agents start.
type SubagentSettings struct{ Depth int }

// InstructionSettings rule the feature instructions.
type InstructionSettings struct {
	Limit int64 // bytes of the project's files together; 0: none is read
}

// SummarizeSettings rule the feature summarize.
type SummarizeSettings struct {
	Tokens int64 // size of a conversation above which it is summarised
}

// SelfCritiqueSettings rule the feature self-critique.
type SelfCritiqueSettings struct{ Rounds int } // per prompt

// Origins say where some settings come from, and what they are for. The merge derives
// them.
type Origins struct {
	ModelLayer protocol.Layer // the highest layer that set the model, "" if none did
	ModelFile  string         // the settings file that set it
	Models     []string       // those that the layers name, the one in force first
	BaseURLFor string         // the provider whose address it is, "" without one
	HeadersFor string         // the provider they are for

	// AtMost is the managed list of agent.approval.tools, and Bounded says that there is
	// one: a flag allows no more.
	AtMost  []string
	Bounded bool
}

// AgentLimits bound a run.
type AgentLimits struct {
	Steps       int
	Tokens      int64   // output tokens, 0 = off
	TotalTokens int64   // input and output tokens, 0 = off
	Cost        float64 // USD, 0 = off
	Time        time.Duration
	Retries     int
	ToolCalls   int // at once
}

// CompactionSettings say when and how a conversation is compacted.
type CompactionSettings struct {
	Auto      bool
	Threshold float64 // share of the context window, 0.1 to 0.99
	Recipe    string

	// RecipeLayer is the highest layer that named the recipe, "" if none did.
	RecipeLayer protocol.Layer `mapstructure:"-"`

	KeepFirst int
	KeepLast  int
}

// ApprovalSettings say who decides an ask.
type ApprovalSettings struct {
	Mode      string         // ask deny allow
	ModeLayer protocol.Layer `mapstructure:"-"` // the highest layer that set the mode, "" if none did
	Tools     []string       // that the loop's own question is not put for
	WhenAlone string         // deny: with nobody there an ask is a block
	Timeout   time.Duration  // 0 = none
}

// ToolSettings rule the loop's own tools.
type ToolSettings struct {
	Bash BashSettings
	Env  []string
}

// BashSettings rule the bash tool.
type BashSettings struct {
	Timeout time.Duration
	Output  int64 // bytes of output kept
	Deny    []string
	Allow   []string
	Layer   protocol.Layer `mapstructure:"-"` // the highest layer that lists commands, "" if none does
}

// Price is what a model costs, in USD per million tokens.
type Price struct {
	Model         string   `json:"model" validate:"required,namepattern"`
	InputPerMTok  float64  `json:"inputPerMTok" validate:"min=0,max=1000000"`
	OutputPerMTok float64  `json:"outputPerMTok" validate:"min=0,max=1000000"`
	CachedPerMTok *float64 `json:"cachedPerMTok,omitzero" validate:"omitnil,min=0,max=1000000"`
}

// TrustedFolder lifts checks of owner and mode for a folder and everything
// below it, as one entry of hooks.trust.folders: a checkout that a container
// mounts belongs to another user, one that a team shares is writable by a group.
type TrustedFolder struct {
	Path       string   `json:"path" validate:"required,folder"`
	Owners     []string `json:"owners,omitzero" validate:"omitnil,max=100,dive,owner"` // user names or numbers
	GroupWrite bool     `json:"groupWrite,omitzero"`
}

// MCPServer is one entry of agent.mcpServers, in the shape other agents use.
type MCPServer struct {
	Layer   protocol.Layer    `json:"-"`             // where it was written: one from the project needs trust
	Line    int               `json:"-"`             // where in its file
	Dir     string            `json:"-"`             // absolute: where its program starts
	Environ []string          `json:"-"`             // of its program, without Env
	Type    string            `json:"type,omitzero"` // stdio http sse; by command or url if empty
	Command string            `json:"command,omitzero"`
	Args    []string          `json:"args,omitzero"`
	Env     map[string]string `json:"env,omitzero"`
	URL     string            `json:"url,omitzero"`
	Headers map[string]string `json:"headers,omitzero"`
}
