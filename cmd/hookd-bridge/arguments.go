package main

import (
	"strings"
	"time"
)

// arguments are the command line.
type arguments struct {
	agent, event string
	limit        time.Duration // of the agent, 0 if its settings state none
	start        bool          // have a daemon started if there is none
}

// parse reads the arguments. What it does not understand is for hookd to judge.
func parse(words []string) (a arguments, understood bool) {
	understood = true
	for i := 0; i < len(words); i++ {
		word := words[i]
		value, isLimit := strings.CutPrefix(word, "--limit=")
		switch {
		case word == "--limit" && i+1 < len(words):
			i++
			value, isLimit = words[i], true
			fallthrough
		case isLimit:
			limit, err := time.ParseDuration(value)
			if err != nil || limit <= 0 {
				understood = false
				continue
			}
			a.limit = limit
		case word == "--start":
			a.start = true
		case strings.HasPrefix(word, "-"):
			understood = false
		case a.agent == "":
			a.agent = word
		case a.event == "":
			a.event = word
		default:
			understood = false
		}
	}
	return a, understood && a.agent != ""
}
