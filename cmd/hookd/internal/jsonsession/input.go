package jsonsession

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookd-dev/hookd/cmd/hookd/internal/cli"
	"github.com/hookd-dev/hookd/internal/lines"
	"github.com/hookd-dev/hookd/protocol"
)

// input is a line that a program writes. Exactly one member is set;
// attachments go with a prompt.
type input struct {
	Prompt      *string         `json:"prompt"`
	Attachments []protocol.Part `json:"attachments"`
	Abort       bool            `json:"abort"`
	Answer      *answer         `json:"answer"`
}

type answer struct {
	ID       string `json:"id"` // of the question: nobody answers what was not read
	OptionID string `json:"optionId"`
	Text     string `json:"text"` // for the model, with a refusal
}

type inputLine struct {
	number int
	text   []byte
	err    error
}

// maxLine is the longest line of input, in bytes.
const maxLine = 32 << 20

var errLongLine = errors.New("it is longer than 32 MiB")

// readInput hands over each line that is not empty, until the input ends or fails.
func readInput(in io.Reader, to chan<- inputLine) {
	defer close(to)
	reader := lines.NewReader(in, lines.Options{Limit: maxLine})
	for number := 1; ; number++ {
		text, _, err := reader.Next()
		_, isLong := errors.AsType[*lines.TooLongError](err)
		switch {
		case errors.Is(err, io.EOF):
			return
		case isLong:
			to <- inputLine{number: number, err: errLongLine}
		case err != nil:
			to <- inputLine{number: number, err: err}
			return
		case len(bytes.TrimSpace(text)) > 0:
			to <- inputLine{number: number, text: text}
		}
	}
}

// inputHint says what a line of input looks like.
const inputHint = `one of {"prompt":"…"}, {"abort":true}, {"answer":{"id":"…","optionId":"…"}} a line`

func decodeInput(text []byte) (*input, *cli.Fault) {
	var input input
	if err := json.Unmarshal(text, &input, json.RejectUnknownMembers(true)); err != nil {
		return nil, cli.Usage("bad-input", inputProblem(err), inputHint)
	}
	set := 0
	for _, is := range []bool{input.Prompt != nil, input.Abort, input.Answer != nil} {
		if is {
			set++
		}
	}
	switch {
	case set != 1:
		return nil, cli.Usage("bad-input", "a line of input asks for exactly one thing", inputHint)
	case len(input.Attachments) > 0 && input.Prompt == nil:
		return nil, cli.Usage("bad-input", "attachments go with a prompt", inputHint)
	case input.Prompt != nil && *input.Prompt == "" && len(input.Attachments) == 0:
		return nil, cli.Usage("bad-input", "the prompt is empty", inputHint)
	}
	for i, part := range input.Attachments {
		if part.Type != protocol.PartText && part.Type != protocol.PartImage {
			return nil, cli.Usage("bad-input", fmt.Sprintf("attachment %d: %q is no kind of attachment", i, part.Type), "text and image are")
		}
	}
	return &input, nil
}

// inputProblem says what is wrong with a line, without the names of Go types.
func inputProblem(err error) string {
	var syntax *jsontext.SyntacticError
	var semantic *json.SemanticError
	switch {
	case errors.As(err, &syntax):
		return fmt.Sprintf("this is not JSON: at byte %d: %v", syntax.ByteOffset, syntax.Err)
	case errors.As(err, &semantic) && semantic.Err != nil:
		return fmt.Sprintf("%s: %v", semantic.JSONPointer, semantic.Err)
	case errors.As(err, &semantic):
		return fmt.Sprintf("%s: no %s belongs here", cmp.Or(string(semantic.JSONPointer), "the line"), semantic.JSONKind)
	}
	return err.Error()
}
