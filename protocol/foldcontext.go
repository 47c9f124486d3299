package protocol

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// said is the context of one hook.
type said struct {
	run    int // which of the fold's runs it is of
	origin Origin
	limit  int64 // of the hook's own layer
	hook   string
	text   string
}

// shareContext cuts the context of all hooks to what there is room for, and
// returns it with the runs, which say what was cut. The machine's hooks are given
// room first, then the user's, then the project's, of projects that lie in one
// another the outer one's first: what a lower layer says, or
// sets as its limit, takes nothing from a higher one. Inside a layer each hook has
// a fair share, so that one cannot use up what others need. Built-in features have
// room of their own.
func (f Fold) shareContext() ([]HookText, []Run) {
	all, runs := f.context.list(), f.runs.list()
	if len(all) == 0 {
		return nil, runs
	}
	given := make([]int64, len(all))
	used := int64(0)
	for _, origin := range originsOf(all) {
		if origin.Layer.Rank() == Builtin.Rank() {
			used = 0
		}
		used += shareOrigin(all, origin, used, given)
	}
	texts := make([]HookText, 0, len(all))
	for i, s := range all {
		text := s.text
		if given[i] < int64(len(text)) {
			kept := cutAtLine(text, given[i])
			run := &runs[s.run]
			run.ContextBytes = len(kept)
			run.Warnings = append(slices.Clip(run.Warnings), fmt.Sprintf("context cut from %d to %d bytes: the limit of an event is %d, for all hooks together", len(text), len(kept), s.limit))
			text = kept + fmt.Sprintf("[hookd: the text of %s ends here; %d of its %d bytes found no room]", s.hook, len(text)-len(kept), len(text))
		}
		texts = append(texts, HookText{Hook: s.hook, Source: s.origin.Layer, Text: text})
	}
	return texts, runs
}

// originsOf are those of the hooks that said something, the highest first.
func originsOf(all []said) []Origin {
	var list []Origin
	for _, s := range all {
		if !slices.ContainsFunc(list, s.origin.level) {
			list = append(list, s.origin)
		}
	}
	slices.SortFunc(list, func(a, b Origin) int { return b.Compare(a) })
	return list
}

// level reports whether neither of two origins stands above the other.
func (o Origin) level(other Origin) bool { return o.Compare(other) == 0 }

// shareOrigin gives the hooks of one origin their shares of what higher ones left,
// and returns how much they took together.
func shareOrigin(all []said, origin Origin, used int64, given []int64) (taken int64) {
	var of []int
	limit := int64(0)
	for i := range all {
		if all[i].origin.level(origin) {
			of = append(of, i)
			limit = max(limit, all[i].limit)
		}
	}
	// Who wants least is served first: what it leaves of its share is for the others.
	slices.SortStableFunc(of, func(a, b int) int { return cmp.Compare(len(all[a].text), len(all[b].text)) })
	room := max(0, limit-used)
	for n, i := range of {
		given[i] = min(int64(len(all[i].text)), (room-taken)/int64(len(of)-n))
		taken += given[i]
	}
	return taken
}

// cutAtLine returns at most n bytes of a text, whole lines where there is one.
func cutAtLine(text string, n int64) string {
	cut := text[:n]
	if end := strings.LastIndexByte(cut, '\n'); end >= 0 {
		return cut[:end+1]
	}
	cut = strings.ToValidUTF8(cut, "")
	if cut != "" {
		cut += "\n"
	}
	return cut
}
