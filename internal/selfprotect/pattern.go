package selfprotect

import (
	"regexp"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

const patternCharacters = `*?[]\`

// plainPattern returns a text with a backslash before what a pattern heeds.
func plainPattern(text string) string {
	if !strings.ContainsAny(text, patternCharacters) {
		return text
	}
	var b strings.Builder
	for i := range len(text) {
		if strings.IndexByte(patternCharacters, text[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// isPattern reports whether a shell takes a text for a pattern.
func isPattern(text string) bool {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '*', '?', '[':
			return true
		}
	}
	return false
}

// unescape takes backslashes away: all of them, or those before a byte of only.
func unescape(text, only string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && (only == "" || strings.IndexByte(only, text[i+1]) >= 0) {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

var (
	ranges  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{[^{},/]*\.\.[^{},/]*\}`) })
	classes = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[:[a-z]+:\]`) })
)

// shellPattern writes a shell's pattern as [path.Match] reads it: [!a] is [^a], and a class
// such as [:alpha:] becomes all characters but the slash.
func shellPattern(text string) string {
	if !strings.Contains(text, "[") {
		return text
	}
	text = classes().ReplaceAllString(text, " -.0-~")
	return strings.ReplaceAll(text, "[!", "[^")
}

// extended returns the texts of @(a|b) and the like, as patterns.
func extended(glob *syntax.ExtGlob) []string {
	if glob.Op == syntax.GlobExcept || glob.Op == syntax.GlobZeroOrMore || strings.Contains(glob.Pattern.Value, "(") {
		return []string{"*"}
	}
	texts := strings.Split(glob.Pattern.Value, "|")
	if glob.Op == syntax.GlobZeroOrOne {
		texts = append(texts, "")
	}
	return texts[:min(len(texts), maxAlternatives)]
}
