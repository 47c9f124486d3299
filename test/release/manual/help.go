package manual

import (
	"errors"
	"fmt"
	"strings"
)

// help is a text of --help, taken apart.
type help struct {
	description []string // lines before the usage
	usage       []string // one form a line
	examples    []string // as they are printed
	sections    []section
	last        string // what stands below everything
}

// section is a list with a title: flags, or commands of one group.
type section struct {
	title    string
	commands bool
	items    []item
}

// item is a row of a list.
type item struct {
	name string // fire, or --data JSON
	text string // what it says, in one line
}

// parseHelp takes a text of --help apart. A form that it does not know is an error, so
// that no page lacks what the help says.
func parseHelp(text string) (help, error) {
	description, lists, found := strings.Cut("\n"+text, "\nUsage:\n")
	if !found {
		return help{}, errors.New("it has no usage")
	}
	h := help{description: trimmed(description)}
	for i, block := range blocks(lists) {
		title, isTitle := strings.CutSuffix(block[0], ":")
		switch {
		case i == 0:
			for _, line := range block {
				h.usage = append(h.usage, strings.TrimSpace(line))
			}
		case isTitle && title == "Examples" && h.examples == nil:
			h.examples = block[1:]
		case h.examples != nil && h.sections == nil && strings.HasPrefix(block[0], " "):
			h.examples = append(append(h.examples, ""), block...)
		case isTitle && strings.HasSuffix(title, "Flags"):
			items, err := flagItems(block[1:])
			if err != nil {
				return help{}, err
			}
			h.sections = append(h.sections, section{title: title, items: items})
		case isTitle && len(block) > 1:
			items, err := commandItems(block[1:])
			if err != nil {
				return help{}, err
			}
			h.sections = append(h.sections, section{title: title, commands: true, items: items})
		case h.last == "" && !strings.HasPrefix(block[0], " "):
			h.last = strings.Join(block, " ")
		default:
			return help{}, fmt.Errorf("this is neither flags nor commands: %q", block[0])
		}
	}
	if len(h.usage) == 0 {
		return help{}, errors.New("its usage is empty")
	}
	return h, nil
}

// flagItems reads rows of flags. A row begins with a dash; what is further to the right
// belongs to the row above.
func flagItems(lines []string) (items []item, err error) {
	for _, line := range lines {
		row := strings.TrimSpace(line)
		if strings.HasPrefix(row, "-") && indent(line) <= len("  -h, ") {
			name, text, _ := strings.Cut(row, "   ")
			items = append(items, item{name: name, text: strings.TrimSpace(text)})
			continue
		}
		if len(items) == 0 {
			return nil, fmt.Errorf("this is no flag: %q", line)
		}
		items[len(items)-1].continues(row)
	}
	return items, nil
}

// commandItems reads rows of commands, which are two columns from the left.
func commandItems(lines []string) (items []item, err error) {
	for _, line := range lines {
		row := strings.TrimSpace(line)
		if indent(line) == 2 {
			name, text, _ := strings.Cut(row, " ")
			items = append(items, item{name: name, text: strings.TrimSpace(text)})
			continue
		}
		if len(items) == 0 || indent(line) < 2 {
			return nil, fmt.Errorf("this is no command: %q", line)
		}
		items[len(items)-1].continues(row)
	}
	return items, nil
}

func (i *item) continues(words string) {
	i.text = strings.TrimSpace(i.text + " " + words)
}

// blocks returns the groups of lines between empty lines.
func blocks(text string) (all [][]string) {
	var block []string
	for _, line := range append(strings.Split(text, "\n"), "") {
		line = strings.TrimRight(line, " \t")
		if line != "" {
			block = append(block, line)
		} else if block != nil {
			all = append(all, block)
			block = nil
		}
	}
	return all
}

// trimmed returns the lines of a text without the empty ones at both ends.
func trimmed(text string) []string {
	text = strings.Trim(text, "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

func indent(line string) int {
	return len(line) - len(strings.TrimLeft(line, " "))
}
