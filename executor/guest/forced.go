package guest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/executor/state"
	"github.com/hookd-dev/hookd/internal/fsutil"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/forced"
)

// A hook that always wants a run to go on must not keep it going for ever. hookd's own
// loop counts forced continuations; other agents count late or not at all, and start
// hookd anew for each event. So the counts of their sessions are files of the state:
//
//   - at agent-stop and subagent-stop one more is counted, or, where hooks.maxForced or
//     hooks.maxForcedTotal is reached, taken back;
//   - a tool call ends the row, a prompt of the person and the end of the session remove
//     the counts.

// forcedCounts are the forced continuations of a session, of each agent in it.
type forcedCounts struct {
	Agents map[string]*forced.Counts `json:"agents"`
	// Said is the beginning of the text that the run goes on with: an agent that puts it to
	// the model as a prompt also fires the event of a prompt for it.
	Said string `json:"said"`
}

// keepForced is how long the counts of a session are kept that ends without a word.
const keepForced = 7 * 24 * time.Hour

func forcedDir(stateDir string) string { return filepath.Join(stateDir, "forced") }

// forcedFile is the file of a session's counts, "" where none can be kept.
func (r *Role) forcedFile(ev *protocol.Event) string {
	if r.options.StateDir == "" || isBelow(r.options.StateDir, ev.Project) {
		return ""
	}
	return r.countsPath(ev)
}

// countsPath is where the counts of a session are, if there are any.
func (r *Role) countsPath(ev *protocol.Event) string {
	session := ev.Session.ID
	if session == "" {
		session = "of " + ev.Project
	}
	return filepath.Join(forcedDir(r.options.StateDir), state.FileName(ev.Agent.Host+" "+session))
}

// boundForced has the event count how often hooks force a run on. Most events are none that
// counts, and most tool calls are of a session without counts: these must cost next to nothing.
func (r *Role) boundForced(ev *protocol.Event) {
	switch ev.Event {
	case protocol.ToolCallStart:
		if _, err := os.Lstat(r.countsPath(ev)); err != nil {
			return
		}
		if file := r.forcedFile(ev); file != "" {
			_ = changeForced(file, func(c *forcedCounts) bool {
				c.toolCalled()
				return true
			})
		}
	case protocol.PromptSubmit:
		file, prompt := r.forcedFile(ev), jsonspan.Text(jsonspan.Get(ev.Data, "prompt"))
		if file != "" && !readForced(file).goesOn(prompt) {
			_ = os.Remove(file)
		}
	case protocol.SessionEnd:
		if file := r.forcedFile(ev); file != "" {
			_ = os.Remove(file)
			pruneForced(filepath.Dir(file), time.Now().Add(-keepForced))
		}
	case protocol.AgentStop, protocol.SubagentStop:
		r.boundRun(ev, r.forcedFile(ev))
	}
}

// boundRun has the decision about a run that would end taken back where hooks have forced
// it on often enough.
func (r *Role) boundRun(ev *protocol.Event, file string) {
	agent := "main"
	if ev.Event == protocol.SubagentStop {
		agent = "sub " + jsonspan.Text(jsonspan.Get(ev.Data, "agentId"))
	}
	told := ev.Data
	if now := readForced(file).of(agent).All; now.Total > 0 {
		list := jsonspan.ReadMemberList(ev.Data)
		list.Set("continued", fmt.Append(nil, max(now.Row, number(list.Get("continued")))))
		if ev.Event == protocol.AgentStop {
			list.Set("continuedTotal", fmt.Append(nil, now.Total))
		}
		ev.Data = list.JSON()
	}
	refused, lost := "", ev.Lost
	ev.TakeBack = func(out *protocol.Outcome) {
		if out.Action != protocol.Block && out.Action != protocol.Continue {
			return
		}
		wanted := out.ContinuedBy()
		err := errNoCounts
		if file != "" {
			err = changeForced(file, func(c *forcedCounts) bool {
				if reached := c.of(agent).Add(wanted, r.mostForced); reached != nil {
					refused = reached.String() + keyOf(reached)
				}
				c.Said = said(out)
				return refused == ""
			})
		}
		if err != nil && number(jsonspan.Get(told, "continued")) > 0 {
			refused = fmt.Sprintf("it was forced on before, and nobody can count how often: %v", err)
		}
		if refused == "" {
			return
		}
		refused = "the run ends although a hook wants it to go on: " + refused
		out.Action, out.By, out.Reason, out.Messages = protocol.Observe, nil, "", nil
		out.Notices = append(out.Notices, protocol.HookText{Hook: "hookd", Text: refused})
	}
	ev.Lost = func(out *protocol.Outcome) (all []string) {
		if lost != nil {
			all = lost(out)
		}
		if refused != "" {
			all = append(all, refused)
		}
		return all
	}
}

var errNoCounts = errors.New("hookd has no folder for its state")

func number(value protocol.RawMessage) int {
	n, _ := strconv.Atoi(string(jsonspan.Trim(value)))
	return n
}

// mostForced returns the limits for hooks of an origin.
func (r *Role) mostForced(origin protocol.Origin) forced.Count {
	own := r.source.Current().SettingsOf(origin)
	return forced.Count{Row: own.MaxForced, Total: own.MaxForcedTotal}
}

// keyOf names the settings key of a limit.
func keyOf(reached *forced.Limit) string {
	if reached.InRow {
		return " (hooks.maxForced)"
	}
	return " (hooks.maxForcedTotal)"
}

// said is the beginning of the text that the run goes on with.
func said(out *protocol.Outcome) string {
	const longest = 500 // bytes
	words := out.Reason
	for _, m := range out.Messages {
		if text := m.Content.Text(); text != "" {
			words = text
			break
		}
	}
	words = strings.TrimSpace(words)
	return strings.ToValidUTF8(words[:min(len(words), longest)], "")
}

// goesOn reports whether a prompt is not the person's: none at all, or the text that a
// hook forced the run on with, to which the agent may have added words.
func (c *forcedCounts) goesOn(prompt string) bool {
	const short = 20 // bytes: such a text is in many a prompt
	prompt = strings.TrimSpace(prompt)
	return prompt == "" || c.Said != "" && (prompt == c.Said || len(c.Said) >= short && strings.Contains(prompt, c.Said))
}

// toolCalled ends the row of every agent: many agents do not say which of them calls.
func (c *forcedCounts) toolCalled() {
	for agent := range c.Agents {
		c.of(agent).ToolCalled()
	}
}

// of are the counts of one agent.
func (c *forcedCounts) of(agent string) *forced.Counts {
	if c.Agents == nil {
		c.Agents = map[string]*forced.Counts{}
	}
	if c.Agents[agent] == nil {
		c.Agents[agent] = &forced.Counts{}
	}
	return c.Agents[agent]
}

// readForced returns the counts of a file, none if it cannot be read.
func readForced(file string) *forcedCounts {
	c := &forcedCounts{}
	if text, err := readSmall(file); err == nil {
		_ = json.Unmarshal(text, c)
	}
	return c
}

// changeForced changes the counts of a file under its lock, and writes them if change says
// so. A file that cannot be read is an error: what it counted is not known.
func changeForced(file string, change func(*forcedCounts) bool) error {
	unlock, err := state.Lock(filepath.Dir(file), filepath.Base(file))
	if err != nil {
		return err
	}
	defer unlock()
	c := &forcedCounts{}
	text, err := readSmall(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		if err := json.Unmarshal(text, c); err != nil {
			return fmt.Errorf("%s cannot be read: %w", file, protocol.PlainError(err))
		}
	}
	if !change(c) {
		return nil
	}
	if text, err = json.Marshal(c); err != nil {
		return err
	}
	return fsutil.ReplaceFile(file, text, fsutil.Unsynced)
}

// pruneForced removes the counts of sessions that have not changed since a time.
func pruneForced(dir string, before time.Time) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && info.ModTime().Before(before) {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}
