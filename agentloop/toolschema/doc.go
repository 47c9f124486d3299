// Package toolschema makes the schema of a tool one that providers of models accept: an
// object at the top, without alternatives there.
//
// [Adapt] returns what is sent (adapt.go): the schema as it is if providers accept it, else
// one that allows more than the tool does, with a rule in words for the description
// (sent.go). [Without] leaves out properties whose names a provider refuses. repair.go
// writes what older drafts and careless servers write in the form that providers read.
// Members keep their order and their bytes.
//
// What is sent may allow more than the tool does: args are always checked against the
// tool's own schema.
package toolschema
