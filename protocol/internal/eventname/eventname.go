package eventname

import (
	"strings"
	"unicode"

	"github.com/agnivade/levenshtein"

	"github.com/hookd-dev/hookd/internal/text"
)

// Nearest is the name in events that a misspelt one most likely means, "" if that cannot
// be told: nothing is near, or events of both sides are as near. Each event has its own
// name first and then its aliases.
func Nearest(word string, events [][]string) string {
	word = text.Shorten(word, 60)
	meant, stem := splitSide(word)
	best, own, distance := "", false, 1<<30
	near := map[side]int{sideBefore: 1 << 30, sideAfter: 1 << 30}
	for _, names := range events {
		of, _ := splitSide(names[0])
		if meant != sideUnknown && of != sideUnknown && of != meant {
			continue
		}
		for i, name := range names {
			d := text.Distance(word, name)
			says, rest := splitSide(name)
			if meant != sideUnknown && says == meant {
				d = min(d, 1+levenshtein.ComputeDistance(stem, rest)) // begin is start
			}
			if d < distance || d == distance && i == 0 && !own {
				best, own, distance = name, i == 0, d
			}
			near[of] = min(near[of], d, levenshtein.ComputeDistance(stem, rest))
		}
	}
	if meant == sideUnknown && near[sideBefore] == near[sideAfter] || distance > max(3, len(word)/2) {
		return ""
	}
	return best
}

// side is whether an event comes before what it is about, when it can still be
// refused, or after it. A misspelt name is never taken for one of the other side: a
// guard there would come too late.
type side byte

const (
	sideUnknown side = iota
	sideBefore
	sideAfter
)

// Words of names that say which side is meant.
var sideWords = map[side][]string{
	sideBefore: {"before", "start", "starts", "started", "begin", "begins", "beginning", "pre", "submit", "request"},
	sideAfter:  {"after", "end", "ends", "ended", "stop", "stops", "stopped", "finish", "finished", "done", "complete", "completed", "post", "error", "failed", "failure"},
}

// splitSide returns the side that a name says with its first or last word, and the name
// without that word, in small letters. A name that says both sides says none.
func splitSide(name string) (side, string) {
	whole := text.Fold(name)
	found, stem := sideUnknown, whole
	for s, words := range sideWords {
		for _, word := range words {
			rest, says := withoutWord(name, whole, word)
			if !says {
				continue
			}
			if found != sideUnknown && found != s {
				return sideUnknown, whole
			}
			if found == sideUnknown || len(rest) < len(stem) {
				found, stem = s, rest
			}
		}
	}
	return found, stem
}

// withoutWord cuts a word off a name's beginning or end. A short one is a word of its
// own there: user_message_send does not say end.
func withoutWord(name, whole, word string) (rest string, says bool) {
	const long = 5
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' || r == ' ' })
	if len(words) == 1 {
		words = camelWords(name)
	}
	if len(words) == 0 {
		return whole, false
	}
	alone := len(words) == 1
	if stem, cut := strings.CutPrefix(whole, word); cut && (strings.EqualFold(words[0], word) || len(word) >= long || alone && word == "pre" || alone && word == "post") {
		return stem, true
	}
	if stem, cut := strings.CutSuffix(whole, word); cut && (strings.EqualFold(words[len(words)-1], word) || len(word) >= long) {
		return stem, true
	}
	return whole, false
}

// camelWords are the words of a name such as PreToolUse.
func camelWords(name string) (words []string) {
	begin := 0
	for i, r := range name {
		if i > begin && unicode.IsUpper(r) {
			words, begin = append(words, name[begin:i]), i
		}
	}
	return append(words, name[begin:])
}
