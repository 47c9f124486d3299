package schema

import (
	"embed"
	"slices"
)

//go:generate go run ./internal/jsonschemas/write json

//go:embed json/*.json
var jsonSchemas embed.FS

// JSONNames are the names of the JSON Schemas that [JSON] returns.
var JSONNames = []string{"event", "reply", "metadata", "side-file", "settings"}

// JSON returns the JSON Schema (draft 2020-12) of what comes from outside, as it
// was generated from the Go types:
//
//	event      what a hook reads on stdin
//	reply      what it writes on stdout
//	metadata   how a program describes itself when it is asked
//	side-file  the description beside a hook's file
//	settings   acai.json, also as yaml or toml
//
// It returns nil for any other name.
func JSON(name string) []byte {
	if !slices.Contains(JSONNames, name) {
		return nil
	}
	b, err := jsonSchemas.ReadFile("json/" + name + ".json")
	if err != nil {
		return nil
	}
	return b
}
