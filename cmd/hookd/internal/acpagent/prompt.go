package acpagent

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/cmd/hookd/internal/show"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/acp"
	"github.com/hookd-dev/hookd/protocol/rpc"
)

// promptOf reads the blocks of a prompt. Text stays as it is; a link becomes its address in the
// text; what the client embeds is put after the text, between tags that name it, so that hooks
// read all that the model reads; images are attachments.
func promptOf(blocks []acp.ContentBlock, root string) (agentloop.Prompt, *rpc.Error) {
	var prompt agentloop.Prompt
	var text, embedded strings.Builder
	for i := range blocks {
		b := &blocks[i]
		wrong := func(format string, args ...any) (agentloop.Prompt, *rpc.Error) {
			return prompt, rpc.Errorf(rpc.InvalidParams, "block %d of the prompt: %s", i+1, fmt.Sprintf(format, args...)).With("path", fmt.Sprintf("/prompt/%d", i))
		}
		switch b.Type {
		case acp.BlockText:
			if b.Text == nil {
				return wrong("a block of text has no text")
			}
			text.WriteString(*b.Text)
		case acp.BlockResourceLink:
			if b.URI == "" {
				return wrong("a link has no uri")
			}
			text.WriteString(nameOf(b.URI, root))
		case acp.BlockResource:
			if b.Resource == nil || b.Resource.URI == "" {
				return wrong("a resource has no uri")
			}
			if b.Resource.Text == nil {
				return wrong("a resource holds no text; hookd reads no other")
			}
			name := nameOf(b.Resource.URI, root)
			text.WriteString(name)
			tag := tagAround(*b.Resource.Text)
			fmt.Fprintf(&embedded, "\n\n<%s ref=%q>\n%s\n</%s>", tag, name, *b.Resource.Text, tag)
		case acp.BlockImage:
			part, failure := imageOf(b)
			if failure != "" {
				return wrong("%s", failure)
			}
			prompt.Attachments = append(prompt.Attachments, part)
		default:
			return wrong("hookd takes no %.40q; it takes text, images, links and embedded text", b.Type)
		}
	}
	prompt.Text = strings.TrimSpace(text.String() + embedded.String())
	if prompt.Text == "" && len(prompt.Attachments) == 0 {
		return prompt, rpc.Errorf(rpc.InvalidParams, "the prompt is empty")
	}
	return prompt, nil
}

func imageOf(b *acp.ContentBlock) (part protocol.Part, failure string) {
	if !strings.HasPrefix(b.MimeType, "image/") {
		return part, fmt.Sprintf("an image has the type %.40q", b.MimeType)
	}
	if _, err := base64.StdEncoding.DecodeString(b.Data); err != nil || b.Data == "" {
		return part, "the data of an image is not base64"
	}
	data, err := protocol.Marshal(b.Data)
	if err != nil {
		return part, err.Error()
	}
	return protocol.Part{Type: protocol.PartImage, MediaType: b.MimeType, Data: data}, ""
}

var ends = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)<\s*/\s*context(-[0-9]+)?`) })

// tagAround returns the name of tags to stand around an embedded text: one that the text does not
// end by itself, so that what follows would pass for words of the person.
func tagAround(text string) string {
	ended := map[string]bool{}
	for _, found := range ends().FindAllStringSubmatch(text, -1) {
		ended[found[1]] = true
	}
	number := ""
	for n := 2; ended[number]; n++ {
		number = "-" + strconv.Itoa(n)
	}
	return "context" + number
}

// nameOf names what a link leads to as a person would: a file of the project by its path in the
// project, with the lines that the link names. It is one line without hidden characters: a file of a
// clone may be named as it likes, and its name stands among the person's words.
func nameOf(uri, root string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" {
		return "@" + show.Line(uri)
	}
	path := filepath.FromSlash(u.Path)
	if below, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(below) {
		path = below
	}
	if u.Fragment != "" {
		path += "#" + u.Fragment
	}
	return "@" + show.Line(path)
}
