// Command write writes the JSON Schemas into a folder; go generate runs it.
package main

import (
	"log"
	"os"
	"path/filepath"

	"github.com/hookd-dev/hookd/schema/internal/jsonschemas"
)

func main() {
	files, err := jsonschemas.Files()
	if err != nil {
		log.Fatal(err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(os.Args[1], name+".json"), content, 0o644); err != nil {
			log.Fatal(err)
		}
	}
}
