package toolname_test

import (
	"fmt"

	"github.com/hookd-dev/hookd/protocol/toolname"
)

// A name that another agent has for a tool means the tool of hookd's own loop, too.
func ExampleParsePattern() {
	for _, text := range []string{"Bash", "@write", "mcp__github__*", "/read_.*/", "Edit|Write"} {
		p, err := toolname.ParsePattern(text)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(text, p.Match("bash", ""), p.Match("write_file", ""))
	}
	// Output:
	// Bash true false
	// @write false true
	// mcp__github__* false false
	// /read_.*/ false false
	// "Edit|Write" is neither a tool's name nor a glob: write several names as a list, a regular expression between slashes (/Edit|Write/), and conditions on arguments in match.when
}
