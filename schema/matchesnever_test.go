package schema

import (
	"strings"
	"testing"
	"time"
)

// A matcher of which no call holds all keys is told: such a guard would look as if it
// guarded. Where a tool may be of any kind nothing is said.
func TestAMatcherThatCanNeverHoldIsTold(t *testing.T) {
	for match, want := range map[string]string{
		`{"tool":"@write","command":"git push *"}`:                  "match.command is about calls of shells, and match.tool @write is none of these",
		`{"tool":["edit_file","Write"],"command":"rm *"}`:           "match.tool edit_file, Write is none",
		`{"tool":"@net","command":"curl *"}`:                        "@shell",
		`{"tool":"*_file","command":"rm *"}`:                        "is never asked",
		`{"tool":"bash","path":".env"}`:                             "match.path is about calls that read or write files",
		`{"tool":"Bash","path":".env"}`:                             "@read, @write or both",
		`{"tool":["@shell","@net"],"path":".env"}`:                  "is never asked",
		`{"command":"rm *","path":".env"}`:                          "no call is both",
		`{"tool":"@shell","command":"rm *","path":".env"}`:          "no call is both",
		`{"tool":"@shell","command":"rm *"}`:                        "",
		`{"tool":["@write","bash"],"command":"rm *"}`:               "",
		`{"tool":"run_shell_command","command":"rm *"}`:             "",
		`{"tool":"@mcp","command":"rm *"}`:                          "",
		`{"tool":"mcp__shell__run","command":"rm *"}`:               "",
		`{"tool":"/mcp__.*/","path":".env"}`:                        "",
		`{"tool":"my_own_tool","command":"rm *"}`:                   "",
		`{"tool":"*","command":"rm *"}`:                             "",
		`{"tool":"read_file","path":".env"}`:                        "",
		`{"tool":"Edit","path":".env"}`:                             "",
		`{"tool":"apply_patch","path":".env"}`:                      "",
		`{"tool":"@write"}`:                                         "",
		`{"tool":["@read","@write"],"path":["*.pem","/etc/**"]}`:    "",
		`{"tool":"@write","when":"data.args.path contains '.env'"}`: "",
	} {
		d := described(t, FromSettings, `{"name":"x","events":["tool-call-start"],"match":`+match+`,"reply":{"action":"block","reason":"no"}}`)
		got, findings := Resolve(Defaults{Name: "x", Timeout: time.Minute}, d)
		said := ""
		for _, f := range findings {
			if f.Code == string(CodeMatchNever) {
				said += f.Message + " -> " + f.Remedy
			}
		}
		if got.Rejected || (said == "") != (want == "") || !strings.Contains(said, want) {
			t.Errorf("%s: %q, rejected %v; want %q", match, said, got.Rejected, want)
		}
	}
}
