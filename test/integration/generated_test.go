package integration

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

func init() {
	generated["events"] = eventsTable
	generated["events-short"] = eventsShort
	generated["settings"] = settingsTable
}

// eventsShort is the events table for the first page: what each event is and
// what a block means there.
func eventsShort() string {
	var b strings.Builder
	b.WriteString("| event | kind | a block refuses | may be changed |\n|---|---|---|---|\n")
	for _, group := range eventGroups() {
		row(&b, group.names, string(group.spec.Kind), cmp.Or(group.spec.Blocks, "–"), changeable(group.spec))
	}
	return b.String()
}

// eventsTable is the whole events table.
func eventsTable() string {
	var b strings.Builder
	b.WriteString("| event | kind | `block` refuses | `stop` | may change | `ask` | `continue` + messages | `callback` | `context` goes | also called |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|\n")
	for _, group := range eventGroups() {
		s := group.spec
		row(&b, group.names, string(s.Kind), cmp.Or(s.Blocks, "–"), cmp.Or(s.Stops, "–"), changeable(s),
			askText(s.Ask), cmp.Or(string(s.Continue), "–"), cmp.Or(string(s.Callback), "–"), cmp.Or(s.Context, "dropped"), aliases(s))
	}
	return b.String()
}

type eventGroup struct {
	names string
	spec  *protocol.Spec
}

// eventGroups joins the notices that tell nothing but themselves.
func eventGroups() []eventGroup {
	var groups []eventGroup
	for i := range protocol.Table {
		s := &protocol.Table[i]
		name := "`" + string(s.Name) + "`"
		if n := len(groups); n > 0 && s.Kind == protocol.Notice && len(s.Aliases) == 0 &&
			groups[n-1].spec.Kind == protocol.Notice && len(groups[n-1].spec.Aliases) == 0 {
			groups[n-1].names += " " + name
			continue
		}
		groups = append(groups, eventGroup{name, s})
	}
	return groups
}

func changeable(s *protocol.Spec) string {
	var parts []string
	for _, f := range s.Fields {
		parts = append(parts, "`"+f.Path+"`")
	}
	text := strings.Join(parts, " ")
	if s.Replace != "" {
		text += fmt.Sprintf("; `%s` answers in its place", s.Replace)
	}
	return cmp.Or(text, "–")
}

func askText(ask protocol.AskMeaning) string {
	switch ask {
	case protocol.AskPerson:
		return "yes"
	case protocol.AskPermission:
		return "→ permission-request"
	case protocol.AskStays:
		return "stays with the person"
	}
	return "–"
}

func aliases(s *protocol.Spec) string {
	var names []string
	seen := map[string]bool{string(s.Name): true}
	for _, a := range s.Aliases {
		if !seen[a.Name] {
			seen[a.Name] = true
			names = append(names, "`"+a.Name+"`")
		}
	}
	return strings.Join(names, " ")
}

// settingsTable is the table of settings.
func settingsTable() string {
	var b strings.Builder
	b.WriteString("| key | type | default | layers | tighter | meaning |\n|---|---|---|---|---|---|\n")
	for i := range schema.Keys {
		k := &schema.Keys[i]
		row(&b, "`"+k.Name+"`", typeText(k), defaultText(k), string(k.Layers), tighterText(k), k.Meaning)
	}
	b.WriteString("\nP, U, M: the layers that may set it (project, user, managed).\n")
	return b.String()
}

func typeText(k *schema.Key) string {
	text := string(k.Type)
	if len(k.Words) > 0 && len(k.Words) <= 8 {
		text = strings.Join(k.Words, " ")
	}
	if k.Min != nil && k.Max != nil && k.Min != k.Max {
		text += fmt.Sprintf(", %s to %s", valueText(k.Type, k.Min), valueText(k.Type, k.Max))
	}
	return text
}

func defaultText(k *schema.Key) string {
	if k.Default == nil {
		return "–"
	}
	return cmp.Or(valueText(k.Type, k.Default), "–")
}

func valueText(t schema.Type, value any) string {
	switch v := value.(type) {
	case time.Duration:
		return schema.FormatDuration(v)
	case int64:
		if t == schema.TypeSize {
			return schema.FormatSize(v)
		}
	case []string:
		if len(v) == 0 {
			return "none"
		}
		return strings.Join(v, " ")
	}
	return fmt.Sprint(value)
}

func tighterText(k *schema.Key) string {
	if k.Tighter == schema.ByOrder {
		return strings.Join(k.Order, " < ")
	}
	return string(k.Tighter)
}

func row(b *strings.Builder, cells ...string) {
	for i, cell := range cells {
		cells[i] = strings.ReplaceAll(cell, "|", `\|`)
	}
	fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
}
