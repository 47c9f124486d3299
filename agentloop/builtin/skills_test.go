package builtin_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookd-dev/hookd/agentloop"
	"github.com/hookd-dev/hookd/agentloop/builtin"
	"github.com/hookd-dev/hookd/agentloop/provider"
	"github.com/hookd-dev/hookd/agentloop/skill"
	"github.com/hookd-dev/hookd/agentloop/store"
	"github.com/hookd-dev/hookd/protocol"
)

// skillFiles writes skills below a folder and lists them.
func skillFiles(t *testing.T, files map[string]string) []skill.File {
	t.Helper()
	folder := t.TempDir()
	var list []skill.File
	for name, text := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		switch {
		case filepath.Base(path) == "SKILL.md":
			list = append(list, skill.File{Name: filepath.Base(filepath.Dir(path)), Path: path, Layer: protocol.Project, Beside: []string{"schema.sql"}})
		case filepath.Ext(path) == ".md":
			list = append(list, skill.File{Name: strings.TrimSuffix(filepath.Base(path), ".md"), Path: path, Layer: protocol.User})
		}
	}
	return list
}

var someSkills = map[string]string{
	"db/SKILL.md":   "---\nname: db\ndescription: How the database is used.\nkeywords: [database, SQL]\n---\nUse pgx, never an ORM.",
	"db/schema.sql": "create table t (id int)",
	"release.md":    "---\ndescription: How a release is made.\n---\nTag it, then wait.",
}

func TestSkillsJoinAConversation(t *testing.T) {
	tk := newConversation(t, `
turns:
- text: one
- text: two
- toolCalls: [{id: c1, name: load_skill, args: {name: release}}, {id: c2, name: load_skill, args: {name: db}}, {id: c3, name: load_skill, args: {name: nothing}}]
- toolCalls: [{id: d1, name: load_skill, args: {name: release}}, {id: d2, name: load_skill, args: {name: db, file: schema.sql}}, {id: d3, name: load_skill, args: {name: release, file: x}}]
- text: done
`, []provider.Provider{builtin.Skills(skillFiles(t, someSkills))},
		func(o *agentloop.Options) { o.System = "You are careful." })
	tk.say("is the DATABASE slow?")
	tk.say("and $db with SQL?")
	tk.say("load them")

	system := "You are careful.\n\n[skills]\nSkills say how things are done here. Before a task that one of them fits, load it with the tool load_skill.\n" +
		"- db: How the database is used.\n- release: How a release is made.\n[end of skills]"
	for i, request := range tk.model.requests {
		if diff := cmp.Diff(system, request.System); diff != "" {
			t.Errorf("call %d: %s", i, diff)
		}
	}
	if got := tk.sent(0); !strings.Contains(got, "is the DATABASE slow?\nuser:\n[context from hook skills]\n[skill db, revision ") ||
		!strings.Contains(got, "Use pgx, never an ORM.\n\nFiles of this skill, to be read with load_skill: schema.sql\n[end of skill db]") {
		t.Errorf("the prompt called for a skill, and the model read:\n%s", got)
	}
	want := map[string]int{
		"Use pgx, never an ORM.": 1, // named and called for again, and loaded
		"Tag it, then wait.":     1,
		"The text of the skill db stands in this conversation already.":               1,
		"The text of the skill release stands in this conversation already.":          1,
		`result error=true there is no skill named "nothing"; there are: db, release`: 1,
		"result error=false create table t (id int)":                                  1,
		"result error=true the skill release has no further files":                    1,
	}
	keys := []string{}
	for key := range want {
		keys = append(keys, key)
	}
	if diff := cmp.Diff(want, counts(tk.sent(4), keys...)); diff != "" {
		t.Errorf("%s\nthe model read:\n%s", diff, tk.sent(4))
	}
}

// A resumed session does not get the list or a skill a second time; an edited
// skill, and one that a compaction took away, comes again.
func TestSkillsInALongSession(t *testing.T) {
	folder := t.TempDir()
	files := skillFiles(t, someSkills)
	script := "turns: [{text: one}, {text: two}]"
	open := func() *store.Session {
		session, err := store.Create(folder, "s1", store.Header{})
		if err != nil {
			session, err = store.Open(folder, "s1")
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { session.Close() })
		return session
	}
	session := open()
	tk := newConversation(t, script, []provider.Provider{builtin.Skills(files)}, func(o *agentloop.Options) { o.Session = session })
	tk.say("use $release")
	session.Close()

	session = open()
	tk = newConversation(t, script, []provider.Provider{builtin.Skills(files)}, func(o *agentloop.Options) { o.Session = session })
	tk.say("use $release again")
	first := tk.model.requests[0]
	if diff := cmp.Diff(map[string]int{"Tag it, then wait.": 1, "[skill release": 1}, counts(render(first.Messages), "Tag it, then wait.", "[skill release")); diff != "" {
		t.Error(diff)
	}
	if n := strings.Count(first.System, "[skills]"); n != 1 {
		t.Errorf("the list stands in the system text %d times:\n%s", n, first.System)
	}

	for _, f := range files {
		if f.Name == "release" {
			if err := os.WriteFile(f.Path, []byte("---\ndescription: Changed.\n---\nAsk first."), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	tk.say("use $release once more")
	second := tk.model.requests[1]
	if diff := cmp.Diff(map[string]int{"Tag it, then wait.": 1, "Ask first.": 1}, counts(render(second.Messages), "Tag it, then wait.", "Ask first.")); diff != "" {
		t.Error(diff)
	}
	if strings.Contains(second.System, "How a release is made") || !strings.Contains(second.System, "- release: Changed.") {
		t.Errorf("the list was not renewed:\n%s", second.System)
	}
	session.Close()
}

func TestSkillComesAgainWhenItWasTakenAway(t *testing.T) {
	forget := provider.Provider{Name: "forget", Hooks: []protocol.GoHook{{
		Name: "forget", Events: []protocol.EventName{protocol.AgentStop}, Match: protocol.Match{When: "turn == 1"},
		Func: func(_ context.Context, _ *protocol.Event) (protocol.Reply, error) {
			return protocol.Reply{Action: protocol.Modify, Changes: []byte(`{"messages": [{"role": "user", "content": "so far: nothing"}]}`)}, nil
		},
	}}}
	tk := newConversation(t, "turns: [{text: one}, {text: two}]", []provider.Provider{builtin.Skills(skillFiles(t, someSkills)), forget})
	tk.say("$release")
	tk.say("$release")
	if got := counts(tk.sent(1), "Tag it, then wait.", "so far: nothing"); got["Tag it, then wait."] != 1 || got["so far: nothing"] != 1 {
		t.Errorf("the model read:\n%s", tk.sent(1))
	}
}

func TestSkillsThatCannotBeUsed(t *testing.T) {
	large := strings.Repeat("long text. ", 2800) // 30,800 bytes
	files := skillFiles(t, map[string]string{
		"a.md": "---\nalways: true\n---\n" + large, "b.md": "---\nalways: true\n---\n" + large,
		"broken.md": "---\nname: x\n",
	})
	tk := newConversation(t, "turns: [{text: one}, {text: two}]", []provider.Provider{builtin.Skills(files)})
	tk.say("hello")
	tk.say("hello again")
	got := strings.Join(tk.notices("skills"), "\n")
	if n := counts(got, "broken.md:1: not used: the front matter has no end", "not added, because a prompt takes 49152 bytes of skills: b"); n["broken.md:1: not used: the front matter has no end"] != 1 {
		t.Errorf("the person read:\n%s", got)
	}
	// What was too much for the first prompt has its place in the second.
	want := map[string]int{"[skill a,": 1, "[skill b,": 1}
	if diff := cmp.Diff(want, counts(tk.sent(1), "[skill a,", "[skill b,")); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(tk.sent(0), "Also called for, to be loaded with load_skill: b") {
		t.Error("the model was not told of the skill that had no place")
	}
}

// The list goes where it stood, and away with the last skill or with the tool.
func TestSkillListWithoutTool(t *testing.T) {
	noTool := func(o *agentloop.Options) {
		p := &o.Providers[0]
		p.Tools = nil
		o.System = "Before.\n\n[skills]\n- old\n[end of skills]\n\nBehind."
	}
	tk := newConversation(t, "turns: [{text: one}]", []provider.Provider{builtin.Skills(skillFiles(t, someSkills))}, noTool)
	tk.say("hello")
	if diff := cmp.Diff("Before.\n\nBehind.", tk.model.requests[0].System); diff != "" {
		t.Error(diff)
	}
}
