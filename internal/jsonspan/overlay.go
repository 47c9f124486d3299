package jsonspan

import (
	"encoding/json"
	"strconv"
)

// Overlay returns raw with what differs between before and after. before is what a
// Go type reads of raw, written as JSON again, and after is the same value changed. So
// members that the type does not know stay, and so do the digits of numbers and the
// spelling of strings that were not changed.
func Overlay(raw, before, after json.RawMessage) json.RawMessage {
	switch {
	case Equal(before, after):
		return raw
	case Kind(raw) == '{' && Kind(before) == '{' && Kind(after) == '{':
		return overlayObject(raw, before, after)
	case Kind(raw) == '[' && Kind(before) == '[' && Kind(after) == '[':
		return overlayList(raw, before, after)
	}
	return after
}

func overlayObject(raw, before, after json.RawMessage) json.RawMessage {
	var out ObjectWriter
	for m := range walk(raw) {
		was, is := Get(before, m.Name), Get(after, m.Name)
		switch {
		case is != nil && was != nil:
			out.Set(m.Key, Overlay(m.Value, was, is))
		case is != nil:
			out.Set(m.Key, is)
		case was == nil:
			out.Set(m.Key, m.Value) // the type does not know it
		}
	}
	for m := range walk(after) {
		if was := Get(before, m.Name); Get(raw, m.Name) == nil && (was == nil || !Equal(was, m.Value)) {
			out.Set(m.Key, m.Value)
		}
	}
	return out.Object()
}

// overlayList gives each element that was there before its bytes, wherever it is now.
// Of the others, one at a place where an element is gone is that element, changed, if
// the list is as long as it was.
func overlayList(raw, before, after json.RawMessage) json.RawMessage {
	raws, was, is := Elements(raw), Elements(before), Elements(after)
	if len(raws) != len(was) {
		return after
	}
	places := make(map[string][]int, len(was)) // of equal elements, the first one last
	for n := len(was) - 1; n >= 0; n-- {
		key := Canonical(was[n])
		places[key] = append(places[key], n)
	}
	found, used := make([]json.RawMessage, len(is)), make([]bool, len(was))
	for i, element := range is {
		key := Canonical(element)
		if list := places[key]; len(list) > 0 {
			n := list[len(list)-1]
			places[key], found[i], used[n] = list[:len(list)-1], raws[n], true
		}
	}
	out := json.RawMessage{'['}
	for i, element := range is {
		switch {
		case found[i] != nil:
			element = found[i]
		case len(is) == len(was) && !used[i]:
			element = Overlay(raws[i], was[i], element)
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, element...)
	}
	return append(out, ']')
}

// AsPatch writes changes of [Budget.Edit] as a JSON Patch below a JSON Pointer.
func AsPatch(pointer string, changes []Change) json.RawMessage {
	patch := json.RawMessage{'['}
	add := func(op string, c Change) {
		if len(patch) > 1 {
			patch = append(patch, ',')
		}
		patch = append(append(patch, `{"op":`...), strconv.Quote(op)...)
		patch = AppendQuote(append(patch, `,"path":`...), pointer+c.Path)
		if c.After != nil {
			patch = append(append(patch, `,"value":`...), c.After...)
		}
		patch = append(patch, '}')
	}
	for _, c := range changes {
		switch {
		case c.Before == nil:
			add("add", c)
		case c.After != nil:
			add("replace", c)
		}
	}
	// From the last to the first, since what follows a removed element moves up.
	for i := len(changes) - 1; i >= 0; i-- {
		if changes[i].After == nil {
			add("remove", changes[i])
		}
	}
	return append(patch, ']')
}
