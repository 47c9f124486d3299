package cassette

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hookd-dev/hookd/agentloop/model"
	"github.com/hookd-dev/hookd/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake plays one list of chunks a call, a second apart, then its error.
type fake struct {
	calls  [][]model.Chunk
	errors []error
	n      int
}

func (f *fake) Name() string { return "fake-1" }

func (f *fake) Generate(ctx context.Context, r model.Request) iter.Seq2[model.Chunk, error] {
	i := f.n
	f.n++
	return func(yield func(model.Chunk, error) bool) {
		for _, c := range f.calls[i] {
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
				yield(model.Chunk{}, context.Cause(ctx))
				return
			}
			if !yield(c, nil) {
				return
			}
		}
		if i < len(f.errors) && f.errors[i] != nil {
			yield(model.Chunk{}, f.errors[i])
		}
	}
}

func collect(ctx context.Context, m model.Model, r model.Request) (chunks []model.Chunk, err error) {
	for chunk, e := range m.Generate(ctx, r) {
		if e != nil {
			return chunks, e
		}
		chunks = append(chunks, chunk)
	}
	return chunks, nil
}

func ask(text string) model.Request {
	return model.Request{
		Model: "fake-1", System: "be good", Attempt: 1,
		Messages: []protocol.Message{{ID: fmt.Sprint(time.Now().UnixNano()), Role: protocol.RoleUser, Content: protocol.TextContent(text)}},
		Tools:    []protocol.Tool{{Name: "bash", Schema: []byte(`{"n":1.10}`)}},
	}
}

func ptr[T any](v T) *T { return &v }

var stop = model.Chunk{Type: model.Finish, Reason: "stop"}

func tape(t *testing.T) string { return filepath.Join(t.TempDir(), "tape.jsonl") }

func record(t *testing.T, file string, m model.Model) *Recorder {
	t.Helper()
	r, err := Record(file, m)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func replay(t *testing.T, file string, o Options) *Player {
	t.Helper()
	p, err := Replay(file, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestThereAndBack asserts that every kind of chunk and of error comes back as it
// was, as slowly as it was where that is asked for.
func TestThereAndBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := &model.Error{Status: 429, Retryable: true, RetryAfter: 1500 * time.Millisecond, Err: errors.New("slow down")}
		full := &model.Error{Status: 400, Err: fmt.Errorf("%w (x: 9 tokens)", model.ErrContextFull)}
		m := &fake{
			calls: [][]model.Chunk{
				{{Type: model.Thinking, Text: "hm"}, {Type: model.Text, Text: "añ\x00 "},
					{Type: model.PartDone, Part: protocol.Part{Type: protocol.PartToolCall, ToolCallID: "a", Name: "f", Args: []byte(`{"x":1.10,"y":9007199254740993}`)}},
					{Type: model.PartDone, Part: protocol.Part{Type: protocol.PartToolCall, ToolCallID: "b", Name: "f", Args: []byte(`{oops`)}},
					{Type: model.PartDone, Part: protocol.Part{Type: protocol.PartOpaque, Provider: "p", Data: []byte(`{"s":"="}`)}},
					{Type: model.Usage, Usage: &protocol.CallUsage{InputTokens: ptr(int64(3)), CostUSD: ptr(0.5)}}, stop},
				{}, {{Type: model.Text, Text: "half"}}, {}, {{Type: model.Text, Text: "no end"}},
			},
			errors: []error{nil, busy, full, errors.New("plain")},
		}
		file := tape(t)
		r := record(t, file, m)
		for i := range m.calls {
			_, _ = collect(t.Context(), r, ask(fmt.Sprint(i))) // what is recorded is looked at below
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v %v", info.Mode(), err)
		}
		for _, timed := range []bool{false, true} {
			p := replay(t, file, Options{Timed: timed})
			if p.Name() != "fake-1" {
				t.Error(p.Name())
			}
			for i := range m.calls {
				began := time.Now()
				got, err := collect(t.Context(), p, ask(fmt.Sprint(i)))
				if diff := cmp.Diff(m.calls[i], append([]model.Chunk{}, got...)); diff != "" {
					t.Errorf("call %d (-want +got):\n%s", i, diff)
				}
				var want error
				if i < len(m.errors) {
					want = m.errors[i]
				}
				if fmt.Sprint(err) != fmt.Sprint(want) || errors.Is(err, model.ErrContextFull) != errors.Is(want, model.ErrContextFull) {
					t.Errorf("call %d: %v, want %v", i, err, want)
				}
				var known, wanted *model.Error
				if errors.As(want, &wanted) && (!errors.As(err, &known) || known.Status != wanted.Status || known.Retryable != wanted.Retryable || known.RetryAfter != wanted.RetryAfter) {
					t.Errorf("call %d: %+v, want %+v", i, known, wanted)
				}
				took, slow := time.Since(began), time.Duration(len(m.calls[i]))*time.Second
				if timed && took != slow || !timed && took != 0 {
					t.Errorf("call %d took %s", i, took)
				}
			}
			if _, err := collect(t.Context(), p, ask("more")); err == nil || !strings.Contains(err.Error(), "has 5 calls, and the model was called once more") {
				t.Error(err)
			}
		}
	})
}

func TestAnotherRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := tape(t)
		r := record(t, file, &fake{calls: [][]model.Chunk{{stop}}})
		if _, err := collect(t.Context(), r, ask("list the files of this folder, please")); err != nil {
			t.Fatal(err)
		}
		r.Close()
		for _, c := range []struct {
			change func(*model.Request)
			want   string
		}{
			{func(r *model.Request) { r.Messages[0].Content[0].Text = "list the files of this folder, now" }, `messages/0/content/0/text: recorded …"ist the files of this folder, please", now …"ist the files of this folder, now"`},
			{func(r *model.Request) { r.System = "" }, `system: recorded "be good", now ""`},
			{func(r *model.Request) { r.Messages = nil }, `messages/0: recorded {"role":"user"`},
			{func(r *model.Request) { r.Messages = append(r.Messages, r.Messages[0]) }, `messages/1: recorded nothing, now {"role"`},
			{func(r *model.Request) { r.Tools[0].Schema = []byte(`{"n":1.2}`) }, `tools/0/schema/n: recorded 1.10, now 1.2`},
			{func(r *model.Request) { r.Params.MaxTokens = ptr(int64(5)) }, `params/maxTokens: recorded nothing, now 5`},
			{func(r *model.Request) { r.Attempt = 2 }, `attempt: recorded 1, now 2`},
		} {
			request := ask("list the files of this folder, please")
			c.change(&request)
			if _, err := collect(t.Context(), replay(t, file, Options{}), request); err == nil || !strings.Contains(err.Error(), "call 1 was recorded with another request: "+c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
			if got, err := collect(t.Context(), replay(t, file, Options{Loose: true}), request); err != nil || len(got) != 1 {
				t.Errorf("loose: %v %v", got, err)
			}
		}
	})
}

// TestSideBySide asserts that calls of sub-agents that overlapped are found in
// either order, and others are not.
func TestSideBySide(t *testing.T) {
	file := tape(t)
	lines := `{"cassette":1,"model":"m"}` + "\n"
	for _, c := range []struct {
		n            int
		text         string
		began, ended float64
	}{{2, "b", 10, 15}, {1, "a", 0, 20}, {3, "c", 30, 40}} {
		text, hash, err := encode(ask(c.text))
		if err != nil {
			t.Fatal(err)
		}
		line, err := protocol.Marshal(call{N: c.n, Hash: hash, Began: c.began, Ended: c.ended, Request: text, Chunks: []chunk{{Type: model.Text, Text: c.text}}})
		if err != nil {
			t.Fatal(err)
		}
		lines += string(line) + "\n"
	}
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	p := replay(t, file, Options{})
	if _, err := collect(t.Context(), p, ask("c")); err == nil || !strings.Contains(err.Error(), "call 1 was recorded with another") {
		t.Error(err)
	}
	for _, text := range []string{"b", "a", "c"} {
		if got, err := collect(t.Context(), p, ask(text)); err != nil || got[0].Text != text {
			t.Errorf("%v %v", got, err)
		}
	}
}

// TestAborted asserts that an aborted call is kept as far as it came, and says so
// when it is played.
func TestAborted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := tape(t)
		r := record(t, file, &fake{calls: [][]model.Chunk{{{Type: model.Text, Text: "half"}, {Type: model.Text, Text: "x"}, stop}, {{Type: model.Text, Text: "a"}, stop}}})
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("Esc")
		time.AfterFunc(1500*time.Millisecond, func() { cancel(why) })
		if _, err := collect(ctx, r, ask("1")); !errors.Is(err, why) {
			t.Error(err)
		}
		for range r.Generate(t.Context(), ask("2")) {
			break
		}
		r.Close()
		p := replay(t, file, Options{})
		for i, text := range []string{"half", "a"} {
			got, err := collect(t.Context(), p, ask(fmt.Sprint(i+1)))
			if len(got) != 1 || got[0].Text != text || err == nil || !strings.Contains(err.Error(), "was aborted when it was recorded") {
				t.Errorf("%v %v", got, err)
			}
		}
	})
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	there := filepath.Join(dir, "there")
	if err := os.WriteFile(there, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Record(there, &fake{}); !errors.Is(err, os.ErrExist) {
		t.Errorf("a file that is there: %v", err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "target"), link); err == nil {
		if _, err := Record(link, &fake{}); !errors.Is(err, os.ErrExist) {
			t.Errorf("a link to nothing: %v", err)
		}
	}
	for name, c := range map[string]struct{ text, want string }{
		"empty":         {"", "is empty"},
		"no cassette":   {"turns: []\n", "line 1 cannot be read"},
		"other":         {"{}\n", "is no cassette"},
		"other version": {"{\"cassette\":2}\n", "another version"},
		"broken line":   {"{\"cassette\":1}\n{\"n\":\n{\"n\":2}\n", "line 2 cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(dir, name)
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Replay(file, Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	torn := filepath.Join(dir, "torn")
	if err := os.WriteFile(torn, []byte("{\"cassette\":1,\"model\":\"m\"}\n{\"n\":1,\"requ"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := collect(t.Context(), replay(t, torn, Options{}), ask("x")); err == nil || !strings.Contains(err.Error(), "a last line that was cut off") {
		t.Error(err)
	}
	if _, err := Replay(dir, Options{}); err == nil {
		t.Error("a folder: no error")
	}
}

// TestCrash asserts that each call is in the file as soon as it has ended.
func TestCrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := tape(t)
		r := record(t, file, &fake{calls: [][]model.Chunk{{stop}, {stop}}})
		for i := 1; i <= 2; i++ {
			if _, err := collect(t.Context(), r, ask("x")); err != nil {
				t.Fatal(err)
			}
			if text, err := os.ReadFile(file); err != nil || strings.Count(string(text), "\n") != i+1 {
				t.Errorf("after call %d: %s %v", i, text, err)
			}
		}
		r.Close()
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("{\"cassette\":1,\"model\":\"m\"}\n{\"n\":1,\"request\":{\"a\":[1]},\"chunks\":[{\"type\":\"part\",\"part\":{\"type\":\"toolCall\"},\"invalidArgs\":\"{\"}]}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, calls, _, err := parse("f", data)
		if err != nil {
			return
		}
		p := &Player{calls: inOrder(calls), played: make([]bool, len(calls))}
		for range calls {
			_, _ = collect(context.Background(), p, model.Request{}) // it must not panic
			p.options.Loose = true
		}
	})
}

func FuzzDifference(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":"x"}]}`), []byte(`{"a":[1,{"b":"y"}],"c":null}`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if text := firstDifference(a, b); text == "" || len(text) > 3000+len(a)+len(b) {
			t.Errorf("%q", text)
		}
	})
}

// otherName is a model of another name.
type otherName struct{ *fake }

func (otherName) Name() string { return "fake-2" }

// TestARecordingFollowsASwitch asserts that two models' calls are on one tape,
// which plays as one model.
func TestARecordingFollowsASwitch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		play := func(text string) *fake { return &fake{calls: [][]model.Chunk{{{Type: model.Text, Text: text}, stop}}} }
		file := tape(t)
		first := record(t, file, play("one"))
		second := first.Follow(otherName{play("two")})
		if first.Name() != "fake-1" || second.Name() != "fake-2" {
			t.Errorf("the names are %s and %s", first.Name(), second.Name())
		}
		other := ask("second")
		other.Model = "fake-2"
		for _, err := range []error{func() error { _, err := collect(t.Context(), first, ask("first")); return err }(), func() error { _, err := collect(t.Context(), second, other); return err }(), first.Close(), second.Close()} {
			if err != nil {
				t.Fatal(err)
			}
		}
		p := replay(t, file, Options{})
		for _, text := range []string{"first", "second"} {
			got, err := collect(t.Context(), p, ask(text))
			if want := map[string]string{"first": "one", "second": "two"}[text]; err != nil || len(got) != 2 || got[0].Text != want {
				t.Errorf("%s: %+v %v", text, got, err)
			}
		}
		kept, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(kept), `"model":"fake-2"`) {
			t.Errorf("the tape does not say who answered: %s %v", kept, err)
		}
	})
}
