package shellhook

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/protocol"
)

// Actions are what [Answer] may be about.
var Actions = []protocol.Action{
	protocol.Block, protocol.Stop, protocol.Ask, protocol.Continue, protocol.Modify, protocol.Allow, protocol.Observe,
}

// Answer is a reply as a shell says it.
type Answer struct {
	Action  string
	Reason  string
	Context string
	Notice  string
	ID      string
	Set     []string // data.args.command=text: what modify changes

	Stdin io.Reader
	// Piped says that stdin has the reason of a block, stop, ask or continue that has
	// none yet.
	Piped bool
}

// Bounds of a text in a reply. hookd reads at most 1 MiB of a hook's output.
const (
	mostKept    = 1 << 20   // bytes of stdin, the last ones
	longestText = 256 << 10 // bytes of a text as JSON
)

// fromStdin stands for a text that is on stdin.
const fromStdin = "-"

// Write writes the reply as one line of JSON. Whatever the texts hold, it is valid:
// bytes that are no UTF-8 become U+FFFD, and of a text that is too long the end
// stays. What is to be changed is written whole or not at all.
func (a *Answer) Write(out io.Writer) error {
	action := protocol.Action(a.Action)
	if action == protocol.Deny {
		action = protocol.Block
	}
	if !slices.Contains(Actions, action) {
		return &UsageError{fmt.Sprintf("%q is no action", a.Action), "one of " + strings.Join(actionNames(), ", ")}
	}
	if err := a.readStdin(action); err != nil {
		return err
	}
	changes, err := changesOf(a.Set)
	switch {
	case err != nil:
		return err
	case action == protocol.Modify && changes == nil:
		return &UsageError{"modify changes nothing", "say what: --set data.args.command=TEXT"}
	case changes != nil && action != protocol.Modify && action != protocol.Ask && action != protocol.Continue:
		return &UsageError{"--set goes with modify, ask and continue, not with " + a.Action, ""}
	case len(changes) > longestText:
		return fmt.Errorf("what is to be changed has %d bytes, the most is %d", len(changes), longestText)
	}
	line, err := protocol.Marshal(protocol.Reply{
		ID: a.ID, Action: action, Changes: changes,
		Reason: shortened(a.Reason), Context: shortened(a.Context), Notice: shortened(a.Notice),
	})
	if err != nil {
		return err
	}
	_, err = out.Write(append(line, '\n'))
	return err
}

func actionNames() (names []string) {
	for _, action := range Actions {
		names = append(names, string(action))
	}
	return names
}

// readStdin puts what is on stdin in the place of the text that stands for it.
func (a *Answer) readStdin(action protocol.Action) error {
	var texts []*string
	for _, text := range []*string{&a.Reason, &a.Context, &a.Notice} {
		if *text == fromStdin {
			texts = append(texts, text)
		}
	}
	asked := len(texts) > 0
	takes := slices.Contains([]protocol.Action{protocol.Block, protocol.Stop, protocol.Ask, protocol.Continue}, action)
	if !asked && a.Piped && takes && a.Reason == "" {
		texts = append(texts, &a.Reason)
	}
	switch len(texts) {
	case 0:
		return nil
	case 1:
	default:
		return &UsageError{"only one text can be on stdin", "give the others as arguments"}
	}
	text := readEnd(a.Stdin)
	if !asked && strings.HasPrefix(text, `{"protocol":`) {
		text = "" // the event, which the hook left unread
	}
	*texts[0] = text
	return nil
}

// readEnd reads all and keeps the end. A refusal does not fail for a stdin that
// cannot be read: it has less of a reason then.
func readEnd(r io.Reader) string {
	var kept []byte
	cut := false
	chunk := make([]byte, 64<<10)
	for {
		n, err := r.Read(chunk)
		kept = append(kept, chunk[:n]...)
		if len(kept) > 2*mostKept {
			kept, cut = append(kept[:0], kept[len(kept)-mostKept:]...), true
		}
		if err != nil {
			break
		}
	}
	text := string(bytes.TrimRight(kept, "\r\n"))
	if cut {
		text = beginningCut + text
	}
	return text
}

const beginningCut = "[the beginning is cut]\n"

// shortened returns a text, or its end if its JSON would be too long.
func shortened(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	for {
		quoted, _ := jsontext.AppendQuote(nil, text)
		if len(quoted) <= longestText {
			return text
		}
		// A character takes at most six bytes: half of the text at least goes each time.
		end := text[len(text)-min(len(text)/2, longestText/2):]
		if at := strings.IndexByte(end, '\n'); at >= 0 && at < len(end)/2 {
			end = end[at+1:]
		}
		text = beginningCut + strings.ToValidUTF8(end, "")
	}
}

// changesOf returns the changes of a reply: a JSON Merge Patch that sets texts.
func changesOf(sets []string) (protocol.RawMessage, error) {
	var root node
	for _, set := range sets {
		name, text, found := strings.Cut(set, "=")
		if !found {
			return nil, &UsageError{fmt.Sprintf("--set %s has no =", set), "write --set data.args.command=TEXT"}
		}
		pointer, err := pointerOf(name)
		if err != nil {
			return nil, err
		}
		members := slices.Collect(pointer.Tokens())
		if len(members) < 2 || members[0] != "data" {
			return nil, &UsageError{"only what is in data can be changed, not " + name, "write --set data.args.command=TEXT"}
		}
		if !root.put(members[1:], text) {
			return nil, &UsageError{"two of --set change " + name, "say it once"}
		}
	}
	if root.members == nil {
		return nil, nil
	}
	return root.json(), nil
}

// node is an object or a text of the changes.
type node struct {
	members map[string]*node
	text    *string
}

// put sets a text, and reports whether nothing else is set there.
func (n *node) put(path []string, text string) bool {
	if n.text != nil || len(path) == 0 && n.members != nil {
		return false
	}
	if len(path) == 0 {
		n.text = &text
		return true
	}
	if n.members == nil {
		n.members = map[string]*node{}
	}
	child := n.members[path[0]]
	if child == nil {
		child = &node{}
		n.members[path[0]] = child
	}
	return child.put(path[1:], text)
}

func (n *node) json() protocol.RawMessage {
	if n.text != nil {
		quoted, _ := jsontext.AppendQuote(nil, strings.ToValidUTF8(*n.text, "\uFFFD"))
		return quoted
	}
	out := protocol.RawMessage{'{'}
	for i, name := range slices.Sorted(maps.Keys(n.members)) {
		if i > 0 {
			out = append(out, ',')
		}
		out, _ = jsontext.AppendQuote(out, name)
		out = append(append(out, ':'), n.members[name].json()...)
	}
	return append(out, '}')
}
