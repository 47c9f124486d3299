package daemon

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write the conversations as they went")

// A golden conversation is a txtar file with one file, conversation. Its lines:
//
//	-> LINE       a client sends; $KEY stands for the last key of a session
//	>> LINE       the same, and the next line is sent at once
//	<- LINE       what comes back, all of it and in this order
//	<~ LINE       the same, in any order
//	. sleep 1s    time passes (it is not the real one)
//	. close       the client closes its end
//	. signal      the daemon gets a signal
//	. ended       the daemon has ended
//	# text
//
// A line that begins with B is of a second client, on the socket; the others
// are of the one on stdio. Session keys and the ids of events are masked.
func TestConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no conversations", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			script := &archive.Files[0]
			var went string
			synctest.Test(t, func(t *testing.T) { went = converse(t, string(script.Data)) })
			if d := cmp.Diff(string(script.Data), went); d != "" && !*update {
				t.Errorf("the conversation went otherwise (-want +got):\n%s", d)
			} else if d != "" {
				script.Data = []byte(went)
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// conversation is one being played.
type conversation struct {
	*served
	t     *testing.T
	peers map[string]*peerEnd // by prefix
	key   string
	over  bool
	out   strings.Builder
}

// converse plays the sending lines of a conversation and returns it as it went.
func converse(t *testing.T, script string) string {
	c := &conversation{t: t, served: serve(t, Options{Version: "test", Cwd: "/proj"}, nil), peers: map[string]*peerEnd{}}
	c.peers[""] = c.stdio
	lines := strings.SplitAfter(script, "\n")
	for i, line := range lines {
		prefix, what, text := cut(line)
		switch {
		case what == "<-" || what == "<~":
			continue // written anew below
		case strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "":
			c.out.WriteString(line)
			continue
		}
		c.out.WriteString(line)
		c.play(prefix, what, text)
		if what == ">>" {
			continue
		}
		synctest.Wait()
		c.hear("", lines[i+1:])
		c.hear("B", lines[i+1:])
	}
	for prefix, p := range c.peers {
		if prefix != "" {
			p.close()
		}
	}
	if !c.over {
		c.cancel(errSignal)
		c.end(10 * time.Second)
	}
	return c.out.String()
}

func cut(line string) (prefix, what, text string) {
	if strings.HasPrefix(line, "B") {
		prefix, line = "B", line[1:]
	}
	what, text, _ = strings.Cut(strings.TrimSuffix(line, "\n"), " ")
	return prefix, what, text
}

func (c *conversation) play(prefix, what, text string) {
	p := c.peers[prefix]
	if p == nil {
		p = c.dial()
		c.peers[prefix] = p
	}
	switch {
	case what == "->" || what == ">>":
		if err := p.send(strings.ReplaceAll(text, "$KEY", c.key)); err != nil {
			c.t.Errorf("send %s: %v", text, err)
		}
	case text == "close":
		_ = p.w.Close()
	case text == "signal":
		c.cancel(errSignal)
	case text == "ended":
		c.end(time.Millisecond)
		c.over = true
	case strings.HasPrefix(text, "sleep "):
		d, err := time.ParseDuration(strings.TrimPrefix(text, "sleep "))
		if err != nil {
			c.t.Fatal(err)
		}
		time.Sleep(d)
	default:
		c.t.Fatalf("what is %q?", what+" "+text)
	}
}

var (
	keyPattern = regexp.MustCompile(`"key":"([A-Z2-7]{26})"`)
	idPattern  = regexp.MustCompile(`"id":"[0-9A-HJKMNP-TV-Z]{26}"`)
)

// hear writes down what a peer has got, in the order of the lines to come where
// that says that the order does not count.
func (c *conversation) hear(prefix string, expected []string) {
	p := c.peers[prefix]
	if p == nil {
		return
	}
	var got []string
	for len(p.lines) > 0 {
		line, ok := <-p.lines
		if !ok {
			break
		}
		if m := keyPattern.FindStringSubmatch(line); m != nil {
			c.key = m[1]
			line = strings.ReplaceAll(line, c.key, "KEY")
		}
		got = append(got, idPattern.ReplaceAllString(line, `"id":"ID"`))
	}
	var anyOrder []string
	for _, line := range expected {
		expectedPrefix, what, text := cut(line)
		if what != "<~" && what != "<-" {
			break
		}
		if what == "<~" && expectedPrefix == prefix {
			anyOrder = append(anyOrder, text)
		}
	}
	mark := "<-"
	if len(anyOrder) > 0 {
		mark = "<~"
		slices.Sort(got)
		slices.SortStableFunc(got, func(a, b string) int {
			return slices.Index(anyOrder, a) - slices.Index(anyOrder, b)
		})
	}
	for _, line := range got {
		c.out.WriteString(prefix + mark + " " + line + "\n")
	}
}
