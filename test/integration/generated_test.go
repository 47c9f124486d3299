package integration

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/loader/install"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/tables"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/schema/agentparts"
	"github.com/hookd-dev/hookd/schema/testfile"
)

func init() {
	generated["events"] = tables.Events
	generated["events-short"] = eventsShort
	generated["event-data"] = tables.Data
	generated["shapes"] = tables.Shapes
	generated["answered"] = tables.Answered
	generated["aliases"] = tables.Aliases
	generated["fields"] = schema.FieldsMarkdown
	generated["test-keys"] = func() string { return testfile.Markdown(testfile.Keys) }
	generated["test-expects"] = func() string { return testfile.Markdown(testfile.WantKeys) }
	generated["settings"] = schema.SettingsMarkdown
	generated["environment"] = hookenv.Markdown
	generated["features"] = agentparts.FeaturesMarkdown
	generated["findings"] = func() string {
		return schema.CodesMarkdown(slices.Concat(schema.Codes, loader.Codes, install.Codes)...)
	}
}

// eventsShort is the events table for the first page: what each event is, what
// a block means there and what may be changed.
func eventsShort() string {
	var b strings.Builder
	b.WriteString("| event | kind | a block refuses | may be changed |\n|---|---|---|---|\n")
	for i := range protocol.Table {
		s := &protocol.Table[i]
		if s.Kind == protocol.Notice {
			continue
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", s.Name, s.Kind, cmp.Or(s.Blocks, "–"), changeable(s))
	}
	b.WriteString("\nNotices: " + notices() + ".\n")
	return b.String()
}

func notices() string {
	var names []string
	for i := range protocol.Table {
		if s := &protocol.Table[i]; s.Kind == protocol.Notice {
			names = append(names, "`"+string(s.Name)+"`")
		}
	}
	return strings.Join(names, " ")
}

func changeable(s *protocol.Spec) string {
	var parts []string
	for _, f := range s.Fields {
		parts = append(parts, "`"+f.Path+"`")
	}
	text := strings.Join(parts, " ")
	if s.Replace != "" {
		text += fmt.Sprintf("; `%s` answers in its place", s.Replace)
	}
	return cmp.Or(text, "–")
}
