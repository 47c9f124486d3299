package process

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Left are the processes that a program left running when it ended by itself, by
// the names of their programs. They are ended.
type Left []string

// leftReporter is a container that can tell what a program has left. It is asked when the
// program has ended, before it is reaped.
type leftReporter interface{ left() Left }

// String says how many they are and what they are called, "" if there are none.
func (l Left) String() string {
	if len(l) == 0 {
		return ""
	}
	var names []string
	for _, name := range l {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	const most = 5
	if more := len(names) - most; more > 0 {
		names = append(names[:most], fmt.Sprintf("and %d others", more))
	}
	noun := "processes"
	if len(l) == 1 {
		noun = "process"
	}
	return fmt.Sprintf("%d %s (%s)", len(l), noun, strings.Join(names, ", "))
}

// cleanName is a process's name as it may be shown: it chooses that itself.
func cleanName(name string) string {
	name = strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) || r == unicode.ReplacementChar {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(name, "?"))
	if name == "" {
		return "?"
	}
	return name
}
