// Package argschema checks the args of a call against the schema that a tool states for
// them.
//
// [Compile] reads a schema (schema.go), and [Schema.Check] compares args with it
// (args.go). [WithoutForeignPatterns] leaves out of a schema what only JavaScript can check
// (foreign.go): servers are often written in it.
//
// Rules: nothing is fetched, so a schema that refers to another document does not compile;
// whatever a schema says, a check ends; args are only looked at, and keep their digits.
package argschema
