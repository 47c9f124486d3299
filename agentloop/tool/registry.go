package tool

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"

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
	schema      *jsonschema.Resolved // nil: the tool states none
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

func (e *entry) compile() error {
	if len(e.description.Schema) == 0 {
		return nil
	}
	var schema jsonschema.Schema
	if err := stdjson.Unmarshal(e.description.Schema, &schema); err != nil {
		return err
	}
	resolved, err := schema.Resolve(nil)
	e.schema = resolved
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
	value, err := instance(args)
	if err != nil {
		return err
	}
	if _, isObject := value.(map[string]any); !isObject {
		return errors.New("the args are not an object")
	}
	if e := r.entry(name); e != nil && e.schema != nil {
		return e.schema.Validate(value)
	}
	return nil
}

// instance decodes a value for the schema check. A number that no float64 holds
// becomes the nearest one, for the check only: the args keep their digits.
func instance(value protocol.RawMessage) (any, error) {
	decoder := jsontext.NewDecoder(bytes.NewReader(value))
	decoded, err := instanceNext(decoder)
	if err != nil {
		return nil, err
	}
	if _, err := decoder.ReadToken(); err == nil {
		return nil, errors.New("there is more than one value")
	}
	return decoded, nil
}

func instanceNext(d *jsontext.Decoder) (any, error) {
	token, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case 'n':
		return nil, nil
	case 't', 'f':
		return token.Bool(), nil
	case '"':
		return token.String(), nil
	case '0':
		number, err := strconv.ParseFloat(token.String(), 64)
		if math.IsInf(number, 0) && err != nil {
			number = math.Copysign(math.MaxFloat64, number)
		}
		return number, nil
	case '[':
		list := []any{}
		for d.PeekKind() != ']' {
			item, err := instanceNext(d)
			if err != nil {
				return nil, err
			}
			list = append(list, item)
		}
		_, err := d.ReadToken()
		return list, err
	default: // '{'
		object := map[string]any{}
		for d.PeekKind() != '}' {
			name, err := d.ReadToken()
			if err != nil {
				return nil, err
			}
			key := name.String()
			if object[key], err = instanceNext(d); err != nil {
				return nil, err
			}
		}
		_, err := d.ReadToken()
		return object, err
	}
}
