package loader

import (
	"github.com/hookd-dev/hookd/schema"
)

// A shape is what a load made of one unchanged file, kept with its content, so
// that a reload costs an unchanged hook a few looks and no work. It is made of
// the file, of its program's answer and of what the key holds; hooks that more
// goes into (a side file, a settings entry, helpers, inPlace) have none.
type shape struct {
	path       string // what the header was read for
	described  schema.Described
	findings   []schema.Finding
	hasHeader  bool
	forTrust   *trustShape
	settledAs  schema.Defaults
	settledBy  *told // its answer
	settled    *schema.Resolution
	settledNow []schema.Finding
}

// trustShape is a resolved description and its bundle.
type trustShape struct {
	key        trustShapeKey
	resolution schema.Resolution
	bundle     bundle
}

// trustShapeKey is everything besides the file that a bundle is made of.
type trustShapeKey struct {
	defaults          schema.Defaults
	on                bool
	foreign, rootOnly bool
}

// header is describeHeader, from memory if it was read before.
func (c *content) header(path, hook string) (schema.Described, []schema.Finding, bool) {
	if c.shape == nil || c.shape.path != path {
		d, findings, ok := describeHeader(path, hook, c)
		c.shape = &shape{path: path, described: d, findings: findings, hasHeader: ok}
	}
	return c.shape.described, c.shape.findings, c.shape.hasHeader
}

// shape returns where what is made of a hook is kept, nil if more goes into it
// than its file.
func (f *found) shape() *shape {
	plain := f.file != nil && f.file.content != nil && !f.file.program.binary && f.file.content.shape != nil && f.file.content.shape.path == f.path &&
		!f.isCommand() && f.sideFile == ""
	by := f.described
	if f.told != nil {
		by = by[:len(by)-1]
	}
	switch {
	case !plain || len(by) > 1:
		return nil
	case len(by) == 1 && by[0].From != schema.FromHeader:
		return nil
	}
	return f.file.content.shape
}

// resolve is schema.Resolve for the hook as it counts, from memory if nothing it
// is made of changed.
func (f *found) resolve(defaults schema.Defaults) (schema.Resolution, []schema.Finding) {
	kept := f.shape()
	if kept != nil && kept.settled != nil && kept.settledAs == defaults && kept.settledBy == f.told {
		return *kept.settled, kept.settledNow
	}
	resolution, findings := schema.Resolve(defaults, f.described...)
	if kept != nil {
		kept.settledAs, kept.settledBy, kept.settled, kept.settledNow = defaults, f.told, &resolution, findings
	}
	return resolution, findings
}
