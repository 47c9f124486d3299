package schema

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema/toolname"
)

// forms are the checks of a text that have a name of their own.
var forms = map[string]struct {
	holds func(string) bool
	want  string
}{
	"hookname":     {isHookName, "the name of a file in the hooks folder, without a path"},
	"envname":      {isEnvName, "the name of a variable: letters, digits and _, no value"},
	"below":        {isBelow, "a path below the hook's folder: relative, without .."},
	"dialect":      {func(s string) bool { return slices.Contains(Dialects, s) }, "a protocol this version speaks: " + strings.Join(Dialects, ", ")},
	"folder":       {isFolder, "an absolute path, or one that begins with ~/"},
	"owner":        {isOwner, "the name or the number of a user"},
	"pathdir":      {isPathFolder, "a folder: an absolute path, or one that begins with ~/"},
	"header":       {isHTTPHeader, "a header line: Name: value"},
	"hash":         {isHash, "a SHA-256 as `hookd trust --print` shows it: 64 hexadecimal digits, sha256: before them or not"},
	"namepattern":  {isPattern, "a name, a glob (small-*), or a regular expression between slashes (/small-.*/)"},
	"shellpattern": {func(s string) bool { return isPattern(s) }, "a command, a glob (git push *), or a regular expression between slashes (/rm .*/)"},
	"allowedtool":  {func(s string) bool { _, err := toolname.ParseAllowed(s); return err == nil }, "a tool's name (bash, write_file), a kind (shell, write, mcp, net, other), a glob (mcp__github__*), or a regular expression between slashes"},
	"weburl":       {isWebURL, "a URL that begins with http:// or https://"},
}

func isHash(s string) bool {
	digits := strings.TrimPrefix(s, "sha256:")
	return len(digits) == 64 && strings.Trim(digits, "0123456789abcdef") == ""
}

func isOwner(s string) bool {
	return s != "" && !strings.ContainsAny(s, ":/ \t") && strings.IndexFunc(s, unicode.IsControl) < 0
}

func isHookName(s string) bool {
	return s != "." && s != ".." && !strings.ContainsAny(s, "/\x00") && strings.IndexFunc(s, unicode.IsControl) < 0
}

func isEnvName(s string) bool {
	for i, c := range s {
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

func isPattern(s string) bool {
	_, err := protocol.ParsePattern(s)
	return err == nil
}

func isBelow(s string) bool {
	return s != "" && !path.IsAbs(s) && !strings.ContainsAny(s, "\\\x00") && !slices.Contains(strings.Split(s, "/"), "..")
}

func isFolder(s string) bool {
	return path.IsAbs(s) || filepath.IsAbs(s) || strings.HasPrefix(s, "~/")
}

// isPathFolder refuses relative folders: a program found through one would be
// another one in the next project.
func isPathFolder(s string) bool {
	return isFolder(s) && !strings.ContainsRune(s, filepath.ListSeparator)
}

func isHTTPHeader(s string) bool {
	name, _, found := strings.Cut(s, ":")
	return found && name != "" && !strings.ContainsAny(name, " \t\r\n\"") && !strings.ContainsAny(s, "\r\n")
}

func isWebURL(s string) bool {
	rest, plain := strings.CutPrefix(s, "http://")
	secure, tls := strings.CutPrefix(s, "https://")
	return plain && rest != "" || tls && secure != ""
}
