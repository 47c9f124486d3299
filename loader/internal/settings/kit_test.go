package settings

import "github.com/hookd-dev/hookd/schema"

// lines writes each finding on one line.
func lines(findings []schema.Finding) []string {
	var all []string
	for _, f := range findings {
		all = append(all, f.String())
	}
	return all
}
