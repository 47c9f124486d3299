package hookcmd

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/exechook"
	"github.com/hookd-dev/hookd/executor/record"
	"github.com/hookd-dev/hookd/internal/text"
	"github.com/hookd-dev/hookd/loader"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/schema"
)

// What check looks at to judge how hooks should run: the ends of the newest
// records, so that it costs the same however much there is.
const (
	recordsRead   = 16
	recordTail    = 1 << 20 // bytes
	runsEnough    = 20
	slowStart     = 10.0 // milliseconds
	startDominant = 1.5  // the usual run takes at most this many times the fastest
)

// suggestion is advice of check. It is no finding: nothing is wrong.
type suggestion struct {
	Hook    string         `json:"hook"`
	Source  protocol.Layer `json:"source"`
	Run     schema.RunMode `json:"run"`
	Message string         `json:"message"`
}

// pastRuns are the recorded runs of one hook as it is now.
type pastRuns struct {
	tookMs []float64 // of those that answered
	notFit string    // the newest warning that it is not fit for standby
	unfit  int
	warned []*pastWarning
}

type bundleName struct {
	layer protocol.Layer
	name  string
	hash  string
}

type pastByHook map[bundleName]*pastRuns

// readPastRuns reads what records say of hooks. Records that cannot be read say
// nothing; hookd log tells what is wrong with them.
func readPastRuns(stateDir string) pastByHook {
	past := pastByHook{}
	for _, file := range newestFiles(filepath.Join(stateDir, "records"), recordsRead) {
		for line := range bytes.Lines(tailOf(file, recordTail)) {
			var event struct {
				Kind record.Kind    `json:"kind"`
				Runs []protocol.Run `json:"runs"`
				Run  *protocol.Run  `json:"run"` // of an observer
			}
			if !bytes.Contains(line, []byte(`"rule"`)) || json.Unmarshal(line, &event) != nil {
				continue
			}
			for i := range event.Runs {
				past.add(&event.Runs[i])
			}
			if event.Run != nil && event.Kind == record.KindLate {
				past.add(event.Run)
			}
		}
	}
	return past
}

func (past pastByHook) add(run *protocol.Run) {
	name := bundleName{run.Source, run.Hook, run.Hash}
	p := past[name]
	if p == nil {
		p = &pastRuns{}
		past[name] = p
	}
	if run.Failure == "" && run.Skipped == "" {
		p.tookMs = append(p.tookMs, run.TookMs)
	}
	for _, warning := range run.Warnings {
		if strings.HasPrefix(warning, exechook.NotFit) {
			p.notFit, p.unfit = warning, p.unfit+1
			continue
		}
		p.warn(warning)
	}
}

// judgeModes says which hooks are not fit for the way in which they run, and which
// would be faster in another.
func judgeModes(s *loader.Snapshot, past pastByHook) (findings []schema.Finding, suggestions []suggestion) {
	for _, info := range s.Hooks {
		p := past[bundleName{info.Layer, info.Name, info.Hash}]
		if p == nil || info.Status != executor.Ready {
			continue
		}
		switch {
		case p.unfit > 0 && info.Run == schema.Standby:
			name := info.Name
			findings = append(findings, schema.Finding{
				Severity: schema.SeverityWarning, Code: string(loader.CodeNotFit), File: info.Path, Hook: &name,
				Message: fmt.Sprintf("%s (%s of this hook)", strings.TrimPrefix(p.notFit, exechook.NotFit), text.Count(p.unfit, "recorded run")),
				Remedy:  "read stdin before anything else, or take run: once; see docs/modes.md",
			})
		case info.Run == schema.Once:
			if text := startText(p.tookMs); text != "" {
				suggestions = append(suggestions, suggestion{info.Name, info.Layer, schema.Standby, text})
			}
		}
		findings = append(findings, p.findings(&info)...)
	}
	return findings, suggestions
}

// startText says that a hook's time is mostly its start, "" if it is not or if that
// cannot be told. A start takes the same each time, work does not: where even the
// fastest run is slow and the usual one hardly slower, the start is what takes time.
func startText(tookMs []float64) string {
	if len(tookMs) < runsEnough {
		return ""
	}
	slices.Sort(tookMs)
	fastest, median := tookMs[0], tookMs[len(tookMs)/2]
	if fastest < slowStart || median > startDominant*fastest {
		return ""
	}
	return fmt.Sprintf("%d runs took %.0f ms at least and %.0f ms usually, and most of that is its start. With run: standby it is started before the event comes; with run: resident it is started once, if it can answer line by line", len(tookMs), fastest, median)
}

// newestFiles returns the paths of the records written last.
func newestFiles(dir string, most int) []string {
	entries, _ := os.ReadDir(dir)
	type file struct {
		path string
		time int64
	}
	var files []file
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() && strings.HasSuffix(entry.Name(), ".jsonl") {
			files = append(files, file{filepath.Join(dir, entry.Name()), info.ModTime().UnixNano()})
		}
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(b.time, a.time) })
	var paths []string
	for _, f := range files[:min(most, len(files))] {
		paths = append(paths, f.path)
	}
	return paths
}

// tailOf returns the end of a file, from the beginning of a line.
func tailOf(path string, most int64) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	from := max(0, info.Size()-most)
	text, err := io.ReadAll(io.NewSectionReader(f, from, info.Size()-from))
	if err != nil {
		return nil
	}
	if from > 0 {
		_, text, _ = bytes.Cut(text, []byte{'\n'})
	}
	return text
}
