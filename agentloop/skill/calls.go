package skill

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Called returns the skills that a prompt calls for, in the order given: those that are
// always there, those named with $NAME as a word of its own or with /NAME at the beginning,
// and those of which a keyword is in the prompt as whole words, in upper or lower case. Names
// are compared as they are written.
func Called(skills []Skill, prompt string) []Skill {
	var called []Skill
	text := strings.Map(fold, prompt)
	words := wordsOf(text)
	for _, s := range skills {
		if s.Always || s.namedIn(prompt) || slices.ContainsFunc(s.Keywords, func(k string) bool { return contains(strings.Map(fold, k), text, words) }) {
			called = append(called, s)
		}
	}
	return called
}

func (s *Skill) namedIn(prompt string) bool {
	if rest, is := strings.CutPrefix(strings.TrimSpace(prompt), "/"+s.Name); is && endsName(rest) {
		return true
	}
	for at, before := 0, rune(0); ; {
		i := strings.Index(prompt[at:], "$"+s.Name)
		if i < 0 {
			return false
		}
		start := at + i
		if before, _ = utf8.DecodeLastRuneInString(prompt[:start]); start > 0 && (isWord(before) || before == '$') {
			at = start + 1
			continue
		}
		if endsName(prompt[start+1+len(s.Name):]) {
			return true
		}
		at = start + 1
	}
}

// endsName reports whether a name ends before rest. A dot ends it if it ends a sentence.
func endsName(rest string) bool {
	next, size := utf8.DecodeRuneInString(rest)
	if size > 0 && next == '.' {
		after, _ := utf8.DecodeRuneInString(rest[size:])
		return !isWord(after)
	}
	return size == 0 || !isWord(next) && next != '-' && next != '/'
}

// contains reports whether the words of a keyword follow one another among those of a text.
// In scripts without spaces between words, text and keyword are compared as they are.
func contains(keyword, text string, words []string) bool {
	if strings.ContainsFunc(keyword, unspaced) {
		return strings.Contains(text, keyword)
	}
	phrase := wordsOf(keyword)
	for i := 0; len(phrase) > 0 && i+len(phrase) <= len(words); i++ {
		if slices.Equal(words[i:i+len(phrase)], phrase) {
			return true
		}
	}
	return false
}

func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// wordsOf returns the words of a text. A hyphen separates words, so that a keyword is found
// with one and without. C++ and C# are words, #5 is a 5.
func wordsOf(text string) []string {
	var words []string
	runes := []rune(text)
	for i := 0; i < len(runes); {
		start := i
		for i < len(runes) && isWord(runes[i]) {
			i++
		}
		end := i
		for i < len(runes) && i > start && (runes[i] == '+' || runes[i] == '#') {
			i++
		}
		if i > end && (i == len(runes) || !isWord(runes[i])) {
			end = i
		}
		if end == start {
			i++
			continue
		}
		words = append(words, string(runes[start:end]))
	}
	return words
}

// fold maps letters that differ only in case to one letter, including those that lower case
// alone does not map (the two small sigmas).
func fold(r rune) rune {
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return least
}

func isWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '_'
}
