package forced

import (
	"fmt"

	"github.com/hookd-dev/hookd/protocol"
)

// Count is how often a run was forced on, or may be.
type Count struct {
	Row   int `json:"row"`   // in a row, without a tool call
	Total int `json:"total"` // since the last prompt of the user
}

func (c Count) oneMore() Count { return Count{c.Row + 1, c.Total + 1} }

// Counts are the counts of one agent. The zero value has counted nothing.
type Counts struct {
	All Count            `json:"all"`
	Of  map[string]Count `json:"of"` // by origin
}

// ToolCalled is called when the agent calls a tool: the row ends.
func (c *Counts) ToolCalled() {
	c.All.Row = 0
	for origin, count := range c.Of {
		c.Of[origin] = Count{Total: count.Total}
	}
}

// Add counts one more, or returns the limit that is reached. It is charged to each of the
// origins whose hooks want it and have not used theirs up; one such origin is enough.
func (c *Counts) Add(wantedBy []protocol.Origin, most func(protocol.Origin) Count) (reached *Limit) {
	var charged []string
	for _, origin := range wantedBy {
		key := fmt.Sprintf("%s %d", origin.Layer, origin.Above)
		switch used, most := c.Of[key], most(origin); {
		case used.Row >= most.Row:
			reached = &Limit{InRow: true, Used: used.Row}
		case used.Total >= most.Total:
			reached = &Limit{Used: used.Total}
		default:
			charged = append(charged, key)
		}
	}
	if len(charged) == 0 {
		return reached
	}
	if c.Of == nil {
		c.Of = map[string]Count{}
	}
	for _, key := range charged {
		c.Of[key] = c.Of[key].oneMore()
	}
	c.All = c.All.oneMore()
	return nil
}

// Limit is why a run is not forced on once more.
type Limit struct {
	InRow bool // by Count.Row; else by Count.Total
	Used  int
}

func (l *Limit) String() string {
	if l.InRow {
		return fmt.Sprintf("it was forced on %d times in a row without a tool call", l.Used)
	}
	return fmt.Sprintf("it was forced on %d times since the last prompt", l.Used)
}
