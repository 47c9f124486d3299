package schema_test

import (
	"fmt"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/schema/document"
)

// A settings file says its values with their places, and what is wrong with it.
func ExampleDecodeLayer() {
	root, err := document.Parse(document.TOML, []byte("hooks.timeout = '5s'\nhooks.parallel = 99\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	settings, findings, err := schema.DecodeLayer(root, protocol.User, "acai.toml")
	fmt.Println(settings.Values["hooks.timeout"].V, err)
	for _, f := range findings {
		fmt.Println(f)
	}
	// Output:
	// 5s <nil>
	// error out-of-range acai.toml:2 hooks.parallel: parallel is 99 -> write 1 to 16
}

// Several descriptions of one hook come to one: the settings entry counts before the
// header.
func ExampleResolve() {
	header, _ := schema.EntryFromPairs("guard.sh", "guard.sh", []schema.Pair{
		{Key: "events", Value: "tool-call-start", Line: 2}, {Key: "can", Value: "block", Line: 2}, {Key: "timeout", Value: "30s", Line: 2},
	})
	root, _ := document.Parse(document.JSON, []byte(`{"name": "guard.sh", "timeout": "2s"}`))
	entry, _ := schema.DecodeEntry(root, schema.FromSettings, schema.Pos{File: "acai.json"}, "")

	settings := schema.DefaultSettings()
	r, findings := schema.Resolve(schema.DefaultsFor(&settings, protocol.Project, "guard.sh", ""), header, entry)
	fmt.Println(r.Hook.Events, r.Hook.Can, r.Hook.Timeout, r.Hook.OnFailure, len(findings))
	// Output: [tool-call-start] block 2s block 0
}
