//go:build unix

package integration

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// warningKinds are the things that have to be said of hooks' answers besides what they
// decided: what makes each, and how it reads.
var warningKinds = []struct {
	name  string
	hooks map[string]string // in the user layer
	event string
	data  string // "" is a call of bash
	hook  string // of whom it is said
	want  string // a regular expression

	onStderr bool // of the text forms: nobody waits for the hook
}{
	{name: "text beside the reply", hook: "a.sh", want: `text on stdout besides the reply: (hello there|\[11 bytes\])`, hooks: map[string]string{
		"a.sh": "can=block\necho hello there\necho '{\"action\":\"observe\"}'",
	}},
	{name: "an unknown member", hook: "a.sh", want: `unknown member "noitce", the nearest is "notice"`, hooks: map[string]string{
		"a.sh": `can=modify` + "\n" + `echo '{"action":"observe","noitce":"x"}'`,
	}},
	{name: "a member beside a refusal", hook: "a.sh", want: `changes beside block is ignored`, hooks: map[string]string{
		"a.sh": `can=modify` + "\n" + `echo '{"action":"block","reason":"no","changes":{"args":{"command":"ls -la"}}}'`,
	}},
	{name: "a conflict of two changes", hook: "b.sh", want: `changed /args/command, which a.sh of the user layer had changed before`, hooks: map[string]string{
		"a.sh": `can=modify` + "\n" + `echo '{"action":"modify","changes":{"args":{"command":"echo a"}}}'`,
		"b.sh": `can=modify` + "\n" + `echo '{"action":"modify","changes":{"args":{"command":"echo b"}}}'`,
	}},
	{name: "a second callback", event: "agent-stop", hook: "b.sh", want: `another callback was asked for already, by a.sh; this one is not run`,
		data: `{"reason":"done","response":"x","messages":[],"continued":0,"continuedTotal":0}`, hooks: map[string]string{
			"a.sh": `can=modify` + "\n" + `echo '{"action":"callback","callback":{"name":"compact"}}'`,
			"b.sh": `can=modify` + "\n" + `echo '{"action":"callback","callback":{"name":"compact"}}'`,
		}},
	{name: "context that is cut", hook: "a.sh", want: `context cut from \d+ to \d+ bytes: the limit of an event is 65536, for all hooks together`, hooks: map[string]string{
		"a.sh": `can=modify` + "\n" + `text=$(awk 'BEGIN { for (i = 0; i < 6000; i++) printf "a line of rule\\n" }' | head -c 98000)` + "\n" + `printf '{"action":"observe","context":"%s"}' "$text"`,
	}},
	{name: "state that is not kept", hook: "a.sh", want: `state of \d+ bytes is not kept, the limit is 65536`, hooks: map[string]string{
		"a.sh": `can=modify` + "\n" + `printf '{"action":"observe","state":"%s"}' "$(awk 'BEGIN { for (i = 0; i < 70000; i++) printf "s" }')"`,
	}},
	{name: "a process left behind", hook: "a.sh", want: `it left 1 process \(sleep\) running, which kept its output open and was ended`, hooks: map[string]string{
		"a.sh": "can=modify\nsleep 60 &\nexit 0",
	}},
	{name: "an allow that grants nothing", hook: "a.sh", want: `allow grants at permission-request only, here it is observe`, hooks: map[string]string{
		"a.sh": `can=modify` + "\n" + `echo '{"action":"allow"}'`,
	}},
	{name: "an observer's", hook: "a.sh", want: `text on stdout besides the reply: (hello there|\[11 bytes\])`, onStderr: true, hooks: map[string]string{
		"a.sh": "can=observe\necho hello there\necho '{\"action\":\"observe\"}'",
	}},
}

// Every warning is seen once, in one line that names the hook and its layer, wherever
// what hooks did is seen.
func TestWarningsAreSeenOnce(t *testing.T) {
	t.Parallel()
	for _, kind := range warningKinds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			event, data := kind.event, kind.data
			if event == "" {
				event, data = "tool-call-start", call("bash", "shell", map[string]any{"command": "ls"})
			}
			for name, text := range kind.hooks {
				fields, body, _ := strings.Cut(text, "\n")
				b.script(t, name, "#!/bin/sh\n# hook: events="+event+" timeout=20s "+fields+"\n"+body+"\n")
			}
			turns := "turns:\n- toolCalls: [{id: c1, name: bash, args: {command: ls}}]\n- text: done\n"
			if err := os.WriteFile(filepath.Join(b.project, "turns.yaml"), []byte(turns), 0o600); err != nil {
				t.Fatal(err)
			}
			want := regexp.MustCompile(kind.want)
			once := func(face, text string, named bool) {
				t.Helper()
				lines := 0
				for line := range strings.Lines(text) {
					found := len(want.FindAllString(line, -1))
					if lines += found; found > 0 && named && !strings.Contains(line, kind.hook+" (user)") {
						t.Errorf("%s: hook and layer are not named: %s", face, line)
					}
				}
				if lines != 1 {
					t.Errorf("%s: seen %d times, want once, in\n%s", face, lines, text)
				}
			}
			fire := []string{"fire", event, "--session", "s1", "--data", data}
			inJSON := regexp.MustCompile(strings.ReplaceAll(kind.want, `"`, `\\"`))
			jsonOnce := func(face, text string) {
				t.Helper()
				if n := len(inJSON.FindAllString(text, -1)); n != 1 {
					t.Errorf("%s: seen %d times, want once, in\n%.3000s", face, n, text)
				}
			}

			stdout, stderr, _ := b.runs(t, nil, fire...)
			once("fire", stdout+"\n"+stderr, true)
			if onStderr := want.MatchString(stderr); onStderr != kind.onStderr {
				t.Errorf("fire: on stderr %v, want %v", onStderr, kind.onStderr)
			}
			stdout, stderr, _ = b.runs(t, nil, "log", "--session", "s1")
			once("log", stdout+"\n"+stderr, true)
			stdout, stderr, _ = b.runs(t, nil, append(fire, "--explain")...)
			once("fire --explain", stdout+"\n"+stderr, true)
			stdout, stderr, _ = b.runs(t, nil, append(fire, "--json")...)
			if kind.onStderr {
				once("fire --json", stderr, true)
			} else {
				jsonOnce("fire --json", stdout+stderr)
			}
			stdout, stderr, _ = b.runs(t, nil, append(fire, "--json", "--explain")...)
			jsonOnce("fire --json --explain", stdout+stderr)

			run := []string{"run", "go", "--allow", "bash,write", "--allow", "bash,write", "--model", "scripted:turns.yaml"}
			stdout, stderr, _ = b.runs(t, nil, run...)
			once("run", stdout+"\n"+stderr, true)
			stdout, stderr, _ = b.runs(t, nil, append(run, "--json")...)
			jsonOnce("run --json", stdout+stderr)
			stdout, stderr, _ = b.runs(t, nil, "check")
			once("check", stdout+"\n"+stderr, false)
			if !strings.Contains(stdout, "hook "+kind.hook) {
				t.Errorf("check does not name the hook:\n%s", stdout)
			}
		})
	}
}
