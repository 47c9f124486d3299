package configtext

import (
	"fmt"
	"slices"
)

// Document is a text and its tree. It is never changed: an edit returns another one.
type Document struct {
	Format Format
	Text   []byte
	Root   *Node // nil of a text that says nothing
}

// Read reads a text.
func Read(format Format, text []byte) (*Document, error) {
	root, err := Parse(format, text)
	if err != nil {
		return nil, err
	}
	return &Document{format, text, root}, nil
}

// Find returns the value at a path, nil if there is none. On the way there every name may
// be written once only: readers differ on which one counts.
func (d *Document) Find(path Path) (*Node, error) {
	n := d.Root
	for i, step := range path {
		if n == nil || step.Name == "" {
			n = n.Find(path[i : i+1])
			continue
		}
		if n.Kind != Object {
			return nil, &Error{n.Line, fmt.Sprintf("%s is %s, where an object is expected", nameOf(path[:i]), n.Kind)}
		}
		line := 0
		for _, m := range n.Members {
			if m.Name == step.Name && line > 0 {
				return nil, &Error{m.Line, fmt.Sprintf("%s stands here a second time, and programs differ on which one counts (the first is on line %d)", path[:i+1], line)}
			}
			if m.Name == step.Name {
				line = m.Line
			}
		}
		n = n.Get(step.Name)
	}
	return n, nil
}

func nameOf(path Path) string {
	if len(path) == 0 {
		return "the document"
	}
	return path.String()
}

// Add appends a value to the list at a path. Objects and the list are made where they
// are missing.
func (d *Document) Add(path Path, value any) (*Document, error) {
	var text []byte
	var err error
	switch d.Format {
	case YAML:
		text, err = d.addYAML(path, value.(Fields))
	case TOML:
		text, err = d.addTOML(path, value.(Fields))
	default:
		list, findErr := d.Find(path)
		switch {
		case findErr != nil:
			return nil, findErr
		case list == nil:
			return d.Set(path, []any{value})
		}
		text, err = d.addChild(path, "", List, value)
	}
	return d.then(text, err)
}

// Set gives a member a value where it is not there yet, in JSON. Objects on the way are
// made where they are missing.
func (d *Document) Set(path Path, value any) (*Document, error) {
	missing := len(path) - 1
	for ; missing > 0; missing-- {
		found, err := d.Find(path[:missing])
		if err != nil {
			return nil, err
		}
		if found != nil {
			break
		}
	}
	for _, step := range slices.Backward(path[missing+1:]) {
		value = Fields{{step.Name, value}}
	}
	return d.then(d.addChild(path[:missing], path[missing].Name, Object, value))
}

// Remove takes out the element or member at a path.
func (d *Document) Remove(path Path) (*Document, error) {
	switch d.Format {
	case YAML:
		return d.then(d.removeYAML(path))
	case TOML:
		return d.then(d.removeTOML(path))
	}
	return d.then(d.removeJSON(path))
}

// Inner returns the bytes between the brackets of an empty list or object at a path, and
// whether there is one. In YAML it is what stands in the place of elements: {}, [] or ~.
func (d *Document) Inner(path Path) (inner string, empty bool) {
	n := d.Root.Find(path)
	switch {
	case n == nil || n.children() > 0:
		return "", false
	case d.Format == YAML:
		return d.innerYAML(path)
	case d.Format == TOML || n.Kind != List && n.Kind != Object:
		return "", false
	}
	return string(d.Text[n.start+1 : n.end-1]), true
}

// SetInner puts bytes that [Document.Inner] returned back into an empty list or object.
func (d *Document) SetInner(path Path, inner string) (*Document, error) {
	if d.Format == YAML {
		return d.then(d.setInnerYAML(path, inner))
	}
	n, err := d.Find(path)
	if err == nil && (n == nil || n.children() > 0 || n.Kind != List && n.Kind != Object) {
		err = &Error{1, fmt.Sprintf("%s is not empty", nameOf(path))}
	}
	if err != nil {
		return nil, err
	}
	return Read(d.Format, splice(d.Text, n.start+1, n.end-1, inner))
}

func (d *Document) then(text []byte, err error) (*Document, error) {
	if err != nil {
		return nil, err
	}
	return Read(d.Format, text)
}
