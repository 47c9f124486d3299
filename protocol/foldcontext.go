package protocol

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// said is the context of one hook.
type said struct {
	run   int // which of the fold's runs it is of
	layer Layer
	limit int64 // of the hook's own layer
	hook  string
	text  string
}

// shareContext cuts the context of all hooks to what there is room for, and
// returns it with the runs, which say what was cut. The machine's hooks are given
// room first, then the user's, then the project's: what a lower layer says, or
// sets as its limit, takes nothing from a higher one. Inside a layer each hook has
// a fair share, so that one cannot use up what others need. Built-in features have
// room of their own.
func (f Fold) shareContext() ([]HookText, []Run) {
	if len(f.context) == 0 {
		return nil, f.runs
	}
	given := make([]int64, len(f.context))
	used := int64(0)
	for _, layer := range []Layer{Managed, User, Project} {
		used += f.shareLayer(layer, used, given)
	}
	f.shareLayer(Builtin, 0, given)
	runs, texts := slices.Clone(f.runs), make([]HookText, 0, len(f.context))
	for i, s := range f.context {
		text := s.text
		if given[i] < int64(len(text)) {
			kept := cutAtLine(text, given[i])
			run := &runs[s.run]
			run.ContextBytes = len(kept)
			run.Warnings = append(slices.Clip(run.Warnings), fmt.Sprintf("context cut from %d to %d bytes: the limit of an event is %d, for all hooks together", len(text), len(kept), s.limit))
			text = kept + fmt.Sprintf("[hookd: the text of %s ends here; %d of its %d bytes found no room]", s.hook, len(text)-len(kept), len(text))
		}
		texts = append(texts, HookText{Hook: s.hook, Text: text})
	}
	return texts, runs
}

// shareLayer gives the hooks of one layer their shares of what higher layers left,
// and returns how much they took together.
func (f Fold) shareLayer(layer Layer, used int64, given []int64) (taken int64) {
	var of []int
	limit := int64(0)
	for i := range f.context {
		own := f.context[i].layer
		if own == layer || layer == Builtin && own.Rank() == Builtin.Rank() {
			of = append(of, i)
			limit = max(limit, f.context[i].limit)
		}
	}
	// Who wants least is served first: what it leaves of its share is for the others.
	slices.SortStableFunc(of, func(a, b int) int { return cmp.Compare(len(f.context[a].text), len(f.context[b].text)) })
	room := max(0, limit-used)
	for n, i := range of {
		given[i] = min(int64(len(f.context[i].text)), (room-taken)/int64(len(of)-n))
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
