package discover

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"golang.org/x/sync/errgroup"

	"github.com/hookd-dev/hookd/executor/hookenv"
	"github.com/hookd-dev/hookd/executor/process"
	"github.com/hookd-dev/hookd/internal/fsutil"
	"github.com/hookd-dev/hookd/loader/internal/bundle"
	"github.com/hookd-dev/hookd/loader/internal/candidate"
	"github.com/hookd-dev/hookd/loader/internal/environment"
	"github.com/hookd-dev/hookd/loader/internal/files"
	"github.com/hookd-dev/hookd/loader/internal/report"
	"github.com/hookd-dev/hookd/loader/internal/trust"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/dialect/foreignhooks"
	"github.com/hookd-dev/hookd/schema"
	"github.com/hookd-dev/hookd/schema/document"
)

// Limits of asking a program what it is for.
const (
	AskTimeout  = 5 * time.Second
	askOutput   = 64 << 10         // bytes
	askFewest   = 4                // at once: that many may hang and hold up nobody
	askAgain    = 10 * time.Minute // a program that did not say is asked again
	askArgument = "hook"
)

// A rawAnswer is what a program said when it was asked, kept by its bundle's hash.
type rawAnswer struct {
	V      int       `json:"v"`
	Hash   string    `json:"hash"`
	At     time.Time `json:"at"`
	Stdout string    `json:"stdout,omitzero"`
	Failed string    `json:"failed,omitzero"` // why there is none, in words
}

// A DescribeCache keeps what programs said, in memory and in the state folder.
type DescribeCache struct {
	dir    string // "" keeps nothing on disk
	AtOnce int    // questions
	mu     sync.Mutex
	got    map[string]rawAnswer
}

// A DescribeAnswer is an answer, read for one hook.
type DescribeAnswer struct {
	Described schema.Described
	findings  []schema.Finding
	why       string // nothing of it can be used, "" if it can
}

// about reads the answer for one hook; hooks of equal content share an answer.
func (got rawAnswer) about(path, hook string) *DescribeAnswer {
	a := &DescribeAnswer{}
	a.Described, a.findings, a.why = got.describe(path, hook)
	return a
}

// NewDescribeCache asks twice as many at once as there are processors: starting a
// program is work for one, waiting for it is not.
func NewDescribeCache(dir string) *DescribeCache {
	return &DescribeCache{dir: dir, AtOnce: max(askFewest, 2*runtime.GOMAXPROCS(0)), got: map[string]rawAnswer{}}
}

// A Describer asks programs that describe themselves nowhere else what they are for.
type Describer struct {
	Answers *DescribeCache
	Managed *DescribeCache // of the managed layer: see answersOf
}

// Known returns a hook's answer to an earlier question, nil if there is none that can
// be used.
func (d *Describer) Known(f *candidate.Hook, hash string, now time.Time) *schema.Described {
	if got, ok := d.answersOf(f.Scope.Layer).known(hash, now); ok {
		if answer := got.about(f.Path, f.Name); answer.why == "" {
			return &answer.Described
		}
	}
	return nil
}

// Describe asks every program that may run and that nothing else described. Without
// a runtime it asks none, and says what is known.
func (d *Describer) Describe(ctx context.Context, rt *process.Runtime, env *environment.Environment, may []trust.Allowed) map[*trust.DecidedHook]*DescribeAnswer {
	questions := map[*DescribeCache][]question{}
	var asked []*trust.DecidedHook
	for _, a := range may {
		f := a.Decided()
		if f.Problem != nil || f.Bundle == nil || f.Faulty() || f.Rule || schema.NamesEvents(f.Described...) || !f.Scope.On() {
			continue
		}
		asked = append(asked, f)
		answers := d.answersOf(f.Scope.Layer)
		if _, known := answers.known(f.Bundle.Hash, env.Now); known || rt == nil {
			continue
		}
		s := trust.StartOf(&f.Subject, &f.Verdict)
		questions[answers] = append(questions[answers], question{f.Bundle.Hash, process.Command{
			Path: s.Path, Argv: append(s.Argv, askArgument), Dir: env.DirOf(&f.Subject, f.Resolution.Hook.InProject),
			Env: append(s.Environ(env.Variables(f.Hook, hookenv.Describe)), foreignhooks.DescribeEnv()...), Grace: f.Scope.Own.Hooks.Grace,
		}})
	}
	for answers, questions := range questions {
		answers.ask(ctx, rt, questions)
	}
	described := map[*trust.DecidedHook]*DescribeAnswer{}
	for _, f := range asked {
		got, known := d.answersOf(f.Scope.Layer).known(f.Bundle.Hash, env.Now)
		if !known {
			continue
		}
		answer := got.about(f.Path, f.Name)
		env.Add(answer.findings...)
		if answer.why != "" {
			env.Add(report.New(report.NoAnswer, f.Path, 0, f.Name, "it was asked for its events: "+answer.why, "add a line `hook: events=tool-call-start` to its header"))
			continue
		}
		described[f] = answer
	}
	return described
}

// answersOf returns the cache for the hooks of a layer. The user may write to the state
// folder, and the managed layer binds the user: of its hooks only answers to this very
// process count, and never those that the same program gave as a hook of another layer.
func (d *Describer) answersOf(layer protocol.Layer) *DescribeCache {
	if layer == protocol.Managed {
		return d.Managed
	}
	return d.Answers
}

func (a *DescribeCache) file(hash string) string {
	return filepath.Join(a.dir, strings.TrimPrefix(hash, bundle.HashPrefix)+".json")
}

// known returns the answer of a bundle, if it was asked and need not be again.
func (a *DescribeCache) known(hash string, now time.Time) (rawAnswer, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	got, ok := a.got[hash]
	if !ok {
		if got, ok = a.onDisk(hash); !ok {
			return got, false
		}
		a.got[hash] = got
	}
	return got, got.Failed == "" || now.Sub(got.At) < askAgain
}

// onDisk looks an answer up that an earlier process was given.
func (a *DescribeCache) onDisk(hash string) (got rawAnswer, ok bool) {
	if a.dir == "" {
		return got, false
	}
	raw, err := os.ReadFile(a.file(hash))
	ok = err == nil && json.Unmarshal(raw, &got) == nil && got.V == 1 && got.Hash == hash
	return got, ok
}

// keep keeps an answer. It does not wait for the disk, which would take longer than most
// programs do: a file that a crash leaves torn is no JSON, and costs one more question,
// as does one that cannot be written.
func (a *DescribeCache) keep(got rawAnswer, onDisk bool) {
	a.mu.Lock()
	a.got[got.Hash] = got
	a.mu.Unlock()
	if !onDisk {
		return
	}
	if raw, err := json.Marshal(got); err == nil {
		_ = fsutil.ReplaceFile(a.file(got.Hash), raw, fsutil.Unsynced)
	}
}

// question is one program to be asked.
type question struct {
	hash    string
	command process.Command
}

// ask asks several programs at once. One that hangs never holds up the others
// longer than the limit.
func (a *DescribeCache) ask(ctx context.Context, rt *process.Runtime, questions []question) {
	onDisk := a.dir != "" && files.PrivateFolder(a.dir) == nil
	var group errgroup.Group
	group.SetLimit(a.AtOnce)
	for _, q := range questions {
		group.Go(func() error {
			got, whole := askOne(ctx, rt, q)
			if whole {
				a.keep(got, onDisk)
			}
			return nil
		})
	}
	_ = group.Wait() // no question fails as a whole
}

// askOne runs one program. whole is false if the caller gave up.
func askOne(ctx context.Context, rt *process.Runtime, q question) (got rawAnswer, whole bool) {
	limited, cancel := context.WithTimeoutCause(ctx, AskTimeout, fmt.Errorf("no answer within %s", AskTimeout))
	defer cancel()
	q.command.StdoutLimit = askOutput
	res := rt.Run(limited, &q.command)
	got = rawAnswer{V: 1, Hash: q.hash, At: time.Now()}
	switch {
	case ctx.Err() != nil:
		return got, false
	case res.Err != nil:
		got.Failed = res.Err.Error()
	case res.Signal != "":
		got.Failed = "ended by " + res.Signal
	case res.ExitCode != 0:
		got.Failed = fmt.Sprintf("exit code %d", res.ExitCode)
	case !utf8.Valid(res.Stdout):
		got.Failed = "its answer is not valid UTF-8"
	default:
		got.Stdout = string(res.Stdout)
	}
	if tail := lastLine(res.Stderr); got.Failed != "" && tail != "" {
		got.Failed += ": " + tail
	}
	return got, true
}

func lastLine(text []byte) string {
	text = bytes.TrimSpace(text)
	return string(bytes.TrimSpace(text[bytes.LastIndexByte(text, '\n')+1:]))
}

// describe reads an answer: an object of fields, or what hooks of another agent answer.
// why says in words why nothing of it can be used, "" if it can.
func (got rawAnswer) describe(path, hook string) (d schema.Described, findings []schema.Finding, why string) {
	if got.Failed != "" {
		return d, nil, got.Failed
	}
	text := strings.TrimSpace(strings.TrimPrefix(got.Stdout, "\ufeff"))
	foreign, isForeign := foreignhooks.Described(text)
	switch {
	case text == "":
		return d, nil, "it answered nothing"
	case isForeign:
		text = foreign
	case !strings.HasPrefix(text, "{"):
		return d, nil, fmt.Sprintf("its answer is neither an object nor the name of an event: %q", clip(text))
	}
	node, err := document.Parse(document.JSON, []byte(text))
	if err != nil {
		return d, nil, "its answer cannot be read: " + err.Error()
	}
	d, findings = schema.DecodeEntry(node, schema.FromProgram, schema.Pos{File: path}, hook)
	return d, findings, ""
}

// clip shortens foreign text for a message.
func clip(text string) string {
	const most = 80
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
