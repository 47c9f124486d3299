package tool

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"github.com/hookd-dev/hookd/internal/argschema"
	"github.com/hookd-dev/hookd/protocol"
)

// Registry is a list of tools with unique names and valid schemas. It may be
// used by several goroutines.
type Registry struct {
	mu     sync.RWMutex
	list   []Tool // as given at first
	byName map[string]*entry
}

type entry struct {
	tool        Tool
	description Description
	schema      *argschema.Schema // nil: the tool states none
}

// NewRegistry returns a registry, or an error that names the tool that has no
// name, a name taken already, or a schema that is none.
func NewRegistry(tools ...Tool) (*Registry, error) {
	r := &Registry{list: tools, byName: map[string]*entry{}}
	for _, t := range tools {
		if name := t.Describe().Name; r.byName[name] != nil {
			return nil, fmt.Errorf("two tools are named %s", name)
		}
		if err := r.Put(t); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Put takes a tool in, in place of the one of the same name if there is one. The
// error says what is wrong with its name or schema.
func (r *Registry) Put(t Tool) error {
	e := &entry{tool: t, description: t.Describe()}
	if e.description.Name == "" {
		return errors.New("a tool has no name")
	}
	if old := r.entry(e.description.Name); old != nil && bytes.Equal(old.description.Schema, e.description.Schema) {
		e.schema = old.schema // a source is looked at often
	} else if err := e.compile(); err != nil {
		return fmt.Errorf("tool %s: schema: %w", e.description.Name, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.byName[e.description.Name] = e
	return nil
}

func (r *Registry) entry(name string) *entry {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.byName[name]
}

func (e *entry) compile() (err error) {
	e.schema, err = argschema.Compile(e.description.Schema)
	return err
}

// Lookup returns a tool by name.
func (r *Registry) Lookup(name string) (Tool, Description, bool) {
	e := r.entry(name)
	if e == nil {
		return nil, Description{Name: name, Kind: protocol.KindOther}, false
	}
	return e.tool, e.description, true
}

// List is the tools that the registry was made of, as a model sees them, in the
// order given.
func (r *Registry) List() []protocol.Tool {
	list := make([]protocol.Tool, len(r.list))
	for i, t := range r.list {
		list[i] = t.Describe().Tool()
	}
	return list
}

// Check reports why args do not fit the schema of the named tool. Args for an
// unknown tool fit if they are an object.
func (r *Registry) Check(name string, args protocol.RawMessage) error {
	e := r.entry(name)
	if e == nil {
		return (*argschema.Schema)(nil).Check(args)
	}
	return e.schema.Check(args)
}
