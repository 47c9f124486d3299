package integration

import (
	"slices"

	"github.com/hookd-dev/hookd/examples"
	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/loader/install"
	"github.com/hookd-dev/hookd/protocol/tables"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/schema/agentparts"
	"github.com/hookd-dev/hookd/schema/testfile"
)

func init() {
	generated["events"] = tables.Events
	generated["event-data"] = tables.Data
	generated["shapes"] = tables.Shapes
	generated["answered"] = tables.Answered
	generated["aliases"] = tables.Aliases
	generated["fields"] = schema.FieldsMarkdown
	generated["test-keys"] = func() string { return testfile.Markdown(testfile.Keys) }
	generated["test-expects"] = func() string { return testfile.Markdown(testfile.WantKeys) }
	generated["hooks-to-take"] = examples.Markdown
	generated["settings"] = schema.SettingsMarkdown
	generated["environment"] = hookenv.Markdown
	generated["features"] = agentparts.FeaturesMarkdown
	generated["findings"] = func() string {
		return schema.CodesMarkdown(slices.Concat(schema.Codes, loader.Codes, install.Codes)...)
	}
}
