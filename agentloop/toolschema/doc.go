// Package toolschema makes the schema of a tool one that providers of models
// take: an object at the top, without alternatives there. What is sent may allow
// more than the tool does; args are checked against the tool's own schema.
package toolschema
