package protocol

import (
	"fmt"
	"strings"
	"sync"
	"unicode"

	"github.com/agnivade/levenshtein"

	"github.com/hookd-dev/hookd/internal/text"
)

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

type sidedName struct {
	side side
	stem string
}

// sided are the names of the table with what [splitSide] says of them.
var sided = sync.OnceValue(func() map[string]sidedName {
	names := map[string]sidedName{}
	for name := range byAlias {
		s, stem := splitSide(name)
		names[name] = sidedName{s, stem}
	}
	return names
})

// nearestEvent is the name or alias that a misspelt one most likely means, "" if that
// cannot be told: nothing is near, or events of both sides are as near.
func nearestEvent(word string) string {
	word = text.Shorten(word, 60)
	meant, stem := splitSide(word)
	best, distance := "", 1<<30
	near := map[side]int{sideBefore: 1 << 30, sideAfter: 1 << 30}
	for i := range Table {
		of := sided()[string(Table[i].Name)].side
		if meant != sideUnknown && of != sideUnknown && of != meant {
			continue
		}
		for _, name := range Table[i].names() {
			d := text.Distance(word, name)
			own := sided()[name]
			if meant != sideUnknown && own.side == meant {
				d = min(d, 1+levenshtein.ComputeDistance(stem, own.stem)) // begin is start
			}
			if d < distance || d == distance && name == string(Table[i].Name) && byAlias[best].Name != EventName(best) {
				best, distance = name, d
			}
			near[of] = min(near[of], d, levenshtein.ComputeDistance(stem, own.stem))
		}
	}
	if meant == sideUnknown && near[sideBefore] == near[sideAfter] || distance > max(3, len(word)/2) {
		return ""
	}
	return best
}

// names are all names of an event, ours first.
func (s *Spec) names() []string {
	names := []string{string(s.Name)}
	for _, alias := range s.Aliases {
		names = append(names, alias.Name)
	}
	return names
}

// EventHint says what a name that no event has may have meant.
func EventHint(name string) string {
	if near := nearestEvent(name); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "the events are " + eventList()
}

// eventList are our names of all events.
func eventList() string {
	var names []string
	for i := range Table {
		names = append(names, string(Table[i].Name))
	}
	return strings.Join(names, " ")
}
