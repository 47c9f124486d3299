package servecmd

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/daemon"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/protocol"
)

// callers tells apart those who have the daemon decide in their place: hooks see
// variables of the one who asks. For each set of them that hooks may see there is an engine
// of its own, so that agents that were started differently do not wait for each other.
type callers struct {
	own    []string // our environment
	depths *hookenv.Depths

	mu    sync.Mutex
	named map[string][]string // by project: the variables that its hooks and settings name
	marks map[string]*marked
	last  map[string]lastCaller
	asked uint64
}

// marked is an environment for which an engine may be opened.
type marked struct {
	environ []string
	asked   uint64 // when a caller had it last
}

// lastCaller is the last caller of a project: an agent starts all its hook calls alike.
type lastCaller struct {
	environ []string
	mark    string
}

// mostMarks bounds what is kept of callers: those that came last. It is more than the
// daemon keeps engines, and an environment that is not kept any more is marked again when
// a caller has it.
const mostMarks = 64

var (
	errOtherDepth  = errors.New("the caller stands below other hooks than the daemon")
	errOtherState  = errors.New("the caller has another HOME or XDG_STATE_HOME than the daemon")
	errManyCallers = errors.New("too many callers with other variables came at once")
)

// markOf separates a project from the environment that it is opened for.
const markOf = "\x00for "

// resolveCaller names the engine of a project for one caller. It fails if the caller's own
// process would find other settings, records or trust, or would count another depth.
func (o *projectOpener) resolveCaller(folders []string, caller daemon.Caller) (string, error) {
	project, also, err := o.found.Among(folders)
	if err != nil {
		return "", err
	}
	key := withOthers(project, also)
	if project == "" {
		key = noProjectAt + folders[0]
	}
	mark, err := o.callers.mark(key, caller.Environ)
	if err != nil {
		return "", err
	}
	depth, err := o.callers.depths.Of(caller.PID, caller.Environ)
	if err != nil {
		return "", fmt.Errorf("what stands above the caller cannot be seen: %w", err)
	}
	if depth != hookenv.ProcessDepth() {
		return "", errOtherDepth
	}
	return key + mark, nil
}

// mark returns what tells the engine for an environment from that for our own, "" if hooks
// see the same in both.
func (c *callers) mark(key string, environ []string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if last, ok := c.last[key]; ok && slices.Equal(last.environ, environ) {
		c.keep(last.mark, environ)
		return last.mark, nil
	}
	places := []string{"HOME", "XDG_STATE_HOME"}
	for _, name := range places {
		if variable(environ, name) != variable(c.own, name) {
			return "", errOtherState
		}
	}
	mark, visible := "", hookenv.Visible(environ, c.named[key])
	if !slices.Equal(visible, hookenv.Visible(c.own, c.named[key])) {
		sum := sha256.Sum256([]byte(strings.Join(visible, "\x00")))
		mark = markOf + hex.EncodeToString(sum[:16])
	}
	c.keep(mark, environ)
	if len(c.last) >= mostMarks { // so many projects are rare
		clear(c.last)
	}
	c.last[key] = lastCaller{environ, mark}
	return mark, nil
}

// keep keeps the environment of a mark, in place of the one that no caller had for the
// longest time.
func (c *callers) keep(mark string, environ []string) {
	if mark == "" {
		return
	}
	c.asked++
	if m := c.marks[mark]; m != nil {
		m.asked = c.asked
		return
	}
	if len(c.marks) >= mostMarks {
		oldest := ""
		for name, m := range c.marks {
			if oldest == "" || m.asked < c.marks[oldest].asked {
				oldest = name
			}
		}
		delete(c.marks, oldest)
	}
	c.marks[mark] = &marked{environ, c.asked}
}

// variable returns a variable as it stands in an environment, "" if it does not.
func variable(environ []string, name string) string {
	i := slices.IndexFunc(environ, func(v string) bool { return strings.HasPrefix(v, name+"=") })
	if i < 0 {
		return ""
	}
	return environ[i]
}

// environOf returns the project of a key and the environment for which it is opened. It
// fails if that is not kept any more: the caller does its work itself.
func (c *callers) environOf(key string) (project string, environ []string, err error) {
	project, mark, isMarked := strings.Cut(key, markOf)
	if !isMarked {
		return project, c.own, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.marks[markOf+mark]
	if m == nil {
		return project, nil, errManyCallers
	}
	return project, m.environ, nil
}

// learn notes which variables the hooks of a project may see now. If that is news, callers
// are told apart anew.
func (c *callers) learn(key string, set *executor.Set) {
	names := namedVariables(set)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Equal(c.named[key], names) {
		c.named[key] = names
		delete(c.last, key)
	}
}

// namedVariables are those that any hook or settings file names.
func namedVariables(set *executor.Set) (names []string) {
	ofLayers := func(env map[protocol.Layer][]string) {
		for _, list := range env {
			names = append(names, list...)
		}
	}
	ofLayers(set.Settings.Hooks.Env)
	for _, h := range set.Hooks {
		names = append(names, h.Env...)
		if h.Own != nil {
			ofLayers(h.Own.Env)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func newCallers() *callers {
	return &callers{own: os.Environ(), depths: hookenv.NewDepths(), named: map[string][]string{}, marks: map[string]*marked{}, last: map[string]lastCaller{}}
}

// callerCheck remembers the last caller for whom an engine may speak.
type callerCheck struct {
	environ []string // that the engine was opened for

	mu   sync.Mutex
	set  *executor.Set
	last []string
}

// SpeaksFor reports whether the hooks of this engine see what they would see of a caller. It
// was named before its hooks were known, or before they changed.
func (s *projectEngine) SpeaksFor(caller daemon.Caller) bool {
	c, set := &s.check, s.watcher.Current()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.set == set && slices.Equal(c.last, caller.Environ) {
		return true
	}
	names := namedVariables(set)
	if !slices.Equal(hookenv.Visible(c.environ, names), hookenv.Visible(caller.Environ, names)) {
		return false
	}
	c.set, c.last = set, caller.Environ
	return true
}
