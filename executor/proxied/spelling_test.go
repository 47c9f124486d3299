package proxied

import (
	"strings"
	"testing"
)

// What programs read as one address has one usual spelling, which is its own.
func TestUsualAddress(t *testing.T) {
	for usual, others := range map[string][]string{
		"file:///etc/secret": {
			"FILE:///etc/secret", "fIle:/etc/secret", "file:etc/secret", "file://localhost/etc/secret", "file://LOCALHOST/etc/secret", "file:////etc/secret", "file:///etc//secret",
			"file:///etc/./secret", "file:///x/../etc/secret", "file:///../etc/secret", "file:///%65tc/secret", "file:///x/%2E%2e/etc/secret", "file:///etc/secr%65t",
			" file:///etc/secret", "file:///etc/secret\n", "\x01file:///etc/secret\u0020", "fi\tle:///etc/sec\nret", `file:\\\etc\secret`, `file:///etc\secret`,
		},
		"https://a.test/x?Q=%2F#F":        {"HTTPS://A.test/x?Q=%2F#F", "https://a.test:443/x?Q=%2F#F", "https:/a.test/x?Q=%2F#F", `https:\\a.test\x?Q=%2F#F`, "https://a.test/y/../x?%51=%2F#F"},
		"https://a.test":                  {"https://A.TEST:443"},
		"https://a.test:8443/":            {"https://A.TEST:8443/"},
		"file:///":                        {"file:", "file://", "file:///.", "file:///a/.."},
		"file:///a/":                      {"file:///a/.", "file:///a/b/..", "file:///a//"},
		"file://host/a":                   {"file://HOST/a"},
		"file:///a%20b%2Fc%c3%a4":         nil,
		"memo://Insights/A":               {"MEMO://Insights/A", "memo://Insights/./A", "memo://Insights/b/../A", "memo://Insight%73/A"},
		"memo://Insights":                 nil,
		"u:a/../b":                        {"U:a/../b"},
		"urn:Isbn:1":                      {"URN:Isbn:1"},
		`u:a\b`:                           nil,
		"/etc/secret":                     {" /etc/secret"},
		"a b":                             nil,
		"":                                {" "},
		"x:/a//b/?q=../..#/../":           nil,
		"file:///a?b=../c":                nil,
		"data:text/plain,a b":             {"DATA:text/plain,a b"},
		"screenshot://5/a/\u00e4/\u0130x": nil,
	} {
		for _, spelling := range append(others, usual) {
			if got := UsualAddress(spelling); got != usual {
				t.Errorf("%q: %q, want %q", spelling, got, usual)
			}
		}
	}
}

// The usual spelling of an address is its own usual spelling, unless what an escape stands for makes
// another one.
func FuzzUsualAddress(f *testing.F) {
	for _, seed := range []string{"FILE:///a/../%2e%2E/b", "http:\\\\A:80//x", "%2566", "file:%2e", "u:/%2e%2e", "a:\t", "%%341"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		usual := UsualAddress(uri)
		if again := UsualAddress(usual); again != usual && !strings.Contains(uri, "%") {
			t.Fatalf("%q: %q, and then %q", uri, usual, again)
		}
	})
}
