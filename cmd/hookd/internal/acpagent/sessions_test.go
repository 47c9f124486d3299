package acpagent

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hookd-dev/hookd/protocol/acp"
	"github.com/hookd-dev/hookd/protocol/rpc"
)

// A diff begins with what the person sees: the text of the client, where it has the file open.
func TestDiffsOfUnsavedFiles(t *testing.T) {
	c := newClient(t, `
turns:
- toolCalls: [{name: write_file, args: {path: open.txt, content: new}}]
- toolCalls: [{name: write_file, args: {path: closed.txt, content: new}}]
- toolCalls: [{name: write_file, args: {path: kept.txt, content: new}}]
- text: done
`)
	for _, name := range []string{"open.txt", "closed.txt", "kept.txt"} {
		c.write("project/"+name, "saved\n", 0o644)
	}
	c.answer = func(m *rpc.Message) (any, *rpc.Error) {
		switch params := string(m.Params); {
		case m.Method != acp.ReadTextFile:
			return chooses("allow")(m)
		case strings.Contains(params, "open.txt"):
			return acp.ReadFileResult{Content: new("unsaved\n")}, nil
		case strings.Contains(params, "kept.txt"):
			return nil, rpc.Errorf(rpc.InternalError, "permission denied")
		}
		return nil, rpc.Errorf(acp.ResourceNotFound, "not open")
	}
	c.start()
	c.initialize(object{"fs": object{"readTextFile": true}})
	session := c.session()
	id := c.send(acp.SessionPrompt, object{"sessionId": session, "prompt": text("go")})
	asked := map[string]string{}
	c.until(func(m *rpc.Message) bool {
		var params acp.PermissionParams
		if m.Method != acp.SessionRequestPermission {
			return m.Method == "" && string(m.ID) == encode(id)
		}
		if err := json.Unmarshal(m.Params, &params); err != nil {
			t.Fatal(err)
		}
		for _, shown := range params.ToolCall.Content {
			if shown.Type == "diff" {
				asked[filepath.Base(shown.Path)] = "none"
				if shown.OldText != nil {
					asked[filepath.Base(shown.Path)] = *shown.OldText
				}
			}
		}
		return false
	})
	if want := (map[string]string{"open.txt": "unsaved\n", "closed.txt": "saved\n", "kept.txt": "none"}); !maps.Equal(asked, want) {
		t.Errorf("the person is asked about changes of %q, want %q", asked, want)
	}
}

// The files that the client has open are read and written through it, as they are there.
func TestFilesOfTheClient(t *testing.T) {
	c := newClient(t, `
turns:
- toolCalls: [{name: read_file, args: {path: open.txt}}]
- toolCalls: [{name: edit_file, args: {path: open.txt, oldText: unsaved, newText: edited}}]
- toolCalls: [{name: write_file, args: {path: new.txt, content: new}}]
- toolCalls: [{name: write_file, args: {path: elsewhere.txt, content: x}}]
- toolCalls: [{name: write_file, args: {path: locked.txt, content: x}}]
- toolCalls: [{name: read_file, args: {path: closed.txt}}]
- toolCalls: [{name: read_file, args: {path: kept.txt}}]
- toolCalls: [{name: read_file, args: {path: ../secret.txt}}]
- toolCalls: [{name: write_file, args: {path: ../secret.txt, content: x}}]
- toolCalls: [{name: write_file, args: {path: .acai/hooks/x.sh, content: x}}]
- text: done
`)
	c.write("project/open.txt", "saved\n", 0o644)
	c.write("project/closed.txt", "on the disk\n", 0o644)
	c.write("project/kept.txt", "what the client keeps\n", 0o644)
	c.write("secret.txt", "secret", 0o644)
	buffers := map[string]string{filepath.Join(c.project, "open.txt"): "unsaved\n"}
	var asked []string
	c.answer = func(m *rpc.Message) (any, *rpc.Error) {
		var file acp.WriteFileParams
		if err := json.Unmarshal(m.Params, &file); err != nil {
			return nil, rpc.Errorf(rpc.InvalidParams, "%v", err)
		}
		asked = append(asked, m.Method+" "+strings.TrimPrefix(file.Path, c.project))
		switch text, open := buffers[file.Path]; {
		case m.Method == acp.WriteTextFile && strings.HasSuffix(file.Path, "elsewhere.txt"):
			return nil, rpc.Errorf(acp.ResourceNotFound, "not in the workspace")
		case m.Method == acp.WriteTextFile && strings.HasSuffix(file.Path, "locked.txt"):
			return nil, rpc.Errorf(rpc.InternalError, "it is locked")
		case m.Method == acp.WriteTextFile:
			buffers[file.Path] = file.Content
			return acp.Empty{}, nil
		case m.Method == acp.ReadTextFile && open:
			return acp.ReadFileResult{Content: &text}, nil
		case m.Method == acp.ReadTextFile && strings.HasSuffix(file.Path, "kept.txt"):
			return nil, rpc.Errorf(rpc.InternalError, "permission denied")
		case m.Method == acp.ReadTextFile:
			return nil, rpc.Errorf(acp.ResourceNotFound, "not open")
		}
		return chooses("allow")(m)
	}
	c.start()
	c.initialize(object{"fs": object{"readTextFile": true, "writeTextFile": true}})
	session := c.session()
	c.call(acp.SessionSetMode, object{"sessionId": session, "modeId": "edit"}, nil)
	c.prompt(session, text("go")...)
	if got, want := buffers[filepath.Join(c.project, "open.txt")], "edited\n"; got != want {
		t.Errorf("the client holds %q", got)
	}
	if got := buffers[filepath.Join(c.project, "new.txt")]; got != "new" {
		t.Errorf("the new file holds %q", got)
	}
	if disk, _ := os.ReadFile(filepath.Join(c.project, "open.txt")); string(disk) != "saved\n" {
		t.Errorf("the disk holds %q", disk)
	}
	for name, want := range map[string]bool{"elsewhere.txt": true, "locked.txt": false} {
		if _, err := os.Stat(filepath.Join(c.project, name)); (err == nil) != want {
			t.Errorf("%s is on the disk: %v", name, err == nil)
		}
	}
	all := string(c.transcript())
	for _, want := range []string{"locked.txt: the editor did not write it: it is locked", `"text":"unsaved\n"`, `"text":"on the disk\n"`, "outside the project", "kept.txt: the editor did not read it: permission denied", `"oldText":"unsaved","newText":"edited"`} {
		if !strings.Contains(all, want) {
			t.Errorf("%s is not told: %s", want, all)
		}
	}
	if strings.Contains(all, "what the client keeps") {
		t.Errorf("a file that the client keeps was read: %s", all)
	}
	if strings.Contains(all, `"oldText":"secret"`) {
		t.Errorf("a file outside the project was shown: %s", all)
	}
	if got := strings.Join(asked, ", "); strings.Contains(got, "secret") || strings.Contains(got, ".acai") {
		t.Errorf("the client was asked for protected files: %s", got)
	}
}

// Tools of a server that the client hands in join the session's, and hooks judge their calls. One
// that does not start is told, and keeps nothing else from working.
func TestServersOfTheClient(t *testing.T) {
	served := 0
	server := sdk.NewServer(&sdk.Implementation{Name: "s", Version: "1"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "greet"}, func(_ context.Context, _ *sdk.CallToolRequest, args struct {
		Name string `json:"name"`
	}) (*sdk.CallToolResult, any, error) {
		served++
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "hello " + args.Name}}}, nil, nil
	})
	web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	t.Cleanup(web.Close)
	c := newClient(t, "turns:\n- toolCalls: [{name: mcp__web__greet, args: {name: Ann}}]\n- toolCalls: [{name: mcp__web__greet, args: {name: Bob}}]\n- text: done")
	c.hook("guard.sh", "events=tool-call-start match.tool=mcp__web__* can=block", `case $(cat) in *Bob*) echo '{"action":"block","reason":"not Bob"}' ;; esac`)
	c.answer = chooses("allow")
	c.start()
	c.initialize(object{"session": object{"notices": object{}}})
	session := c.session(
		object{"type": "http", "name": "web", "url": web.URL, "headers": []any{}},
		object{"name": "broken", "command": "/no/such/program", "args": []any{}, "env": []any{}},
	)
	c.prompt(session, text("go")...)
	all := string(c.transcript())
	for _, want := range []string{"hello Ann", "blocked by guard.sh: not Bob", "MCP server broken does not start: no such file: /no/such/program", "in the settings of your editor"} {
		if !strings.Contains(all, want) {
			t.Errorf("%s is not told: %s", want, all)
		}
	}
	if served != 1 {
		t.Errorf("%d calls were served", served)
	}
}

// What a client asks of a session that is still being opened waits for it; a close ends what is
// being opened; and sessions of different folders do not see each other's hooks.
func TestSessionsThatOpenAndClose(t *testing.T) {
	c := newClient(t, "turns:\n- text: one\n- text: two\n")
	c.start()
	c.initialize(object{})
	session := c.session()
	c.prompt(session, text("first")...)
	closing := c.send(acp.SessionClose, object{"sessionId": session})
	loading := c.send(acp.SessionLoad, object{"sessionId": session, "cwd": c.project, "mcpServers": []any{}})
	prompting := c.send(acp.SessionPrompt, object{"sessionId": session, "prompt": text("second")})
	for id, m := range c.waitAll(closing, loading, prompting) {
		if m.Error != nil {
			t.Errorf("request %s: %v", id, m.Error)
		}
	}
	all := string(c.transcript())
	replayed, answered := strings.Index(all, `"user_message_chunk"`), strings.LastIndex(all, `"text":"one"`)
	if replayed < 0 || replayed > answered {
		t.Errorf("what was said is not told before the next answer: %s", all)
	}
	c.call(acp.SessionClose, object{"sessionId": session}, nil)
	resuming := c.send(acp.SessionResume, object{"sessionId": session, "cwd": c.project, "mcpServers": []any{}})
	ending := c.send(acp.SessionClose, object{"sessionId": session})
	c.waitAll(ending, resuming) // it was opened before, or not at all
	c.call(acp.SessionDelete, object{"sessionId": session}, nil)
	c.call(acp.SessionDelete, object{"sessionId": session}, nil) // is gone already
	var list acp.ListResult
	c.call(acp.SessionList, object{}, &list)
	if len(list.Sessions) > 0 {
		t.Errorf("%+v", list)
	}
}

// Sessions outside of a project are listed with the folder that they work in, for it and for who asks
// for all, and for no other folder.
func TestSessionsOutsideOfAProjectAreListed(t *testing.T) {
	c := newClient(t, "turns:\n- text: one\n")
	for _, name := range []string{"plain", "other"} {
		if err := os.Mkdir(filepath.Join(c.folder, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("plain", filepath.Join(c.folder, "link")); err != nil {
		t.Skipf("a link cannot be made here (Windows lets few users): %v", err)
	}
	c.project = filepath.Join(c.folder, "plain") // which is none
	c.start()
	c.initialize(object{})
	session := c.session()
	c.prompt(session, text("first")...)
	for name, test := range map[string]struct {
		params object
		want   string // its folder; "": it is not listed
	}{
		"all":                        {object{}, "plain"},
		"its folder":                 {object{"cwd": c.project}, "plain"},
		"its folder by another name": {object{"cwd": filepath.Join(c.folder, "link")}, "link"},
		"another folder":             {object{"cwd": filepath.Join(c.folder, "other")}, ""},
	} {
		var list acp.ListResult
		c.call(acp.SessionList, test.params, &list)
		got := ""
		for _, s := range list.Sessions {
			got = filepath.Base(s.Cwd)
		}
		if got != test.want {
			t.Errorf("%s: %+v", name, list.Sessions)
		}
	}
}

// Sessions work side by side, each in its folder.
func TestSessionsSideBySide(t *testing.T) {
	c := newClient(t, "turns:\n- toolCalls: [{name: bash, args: {command: 'pwd > where'}}]\n- text: done")
	c.answer = chooses("allow")
	c.start()
	c.initialize(object{})
	other := filepath.Join(c.folder, "other")
	if err := os.MkdirAll(other, 0o755); err != nil {
		t.Fatal(err)
	}
	first := c.session()
	var second acp.NewResult
	c.call(acp.SessionNew, object{"cwd": other, "mcpServers": []any{}}, &second)
	began := time.Now()
	one := c.send(acp.SessionPrompt, object{"sessionId": first, "prompt": text("go")})
	two := c.send(acp.SessionPrompt, object{"sessionId": second.SessionID, "prompt": text("go")})
	c.waitAll(one, two)
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
	for _, folder := range []string{c.project, other} {
		if where, _ := os.ReadFile(filepath.Join(folder, "where")); strings.TrimSpace(string(where)) != folder {
			t.Errorf("in %s the command ran in %q", folder, where)
		}
	}
}

// A session works in the folders that the client hands in besides its own. Hooks judge what it does
// there, and hooks that lie there and that nobody allowed do not count.
func TestFoldersBesidesTheSessionsOwn(t *testing.T) {
	c := newClient(t, "")
	other := filepath.Join(c.folder, "other")
	c.write("model.yaml", strings.ReplaceAll(`
turns:
- toolCalls: [{name: read_file, args: {path: OTHER/a.txt}}]
- toolCalls: [{name: write_file, args: {path: OTHER/a.txt, content: changed}}]
- toolCalls: [{name: write_file, args: {path: OTHER/guarded.txt, content: changed}}]
- toolCalls: [{name: write_file, args: {path: OTHER/.acai/hooks/x.sh, content: changed}}]
- toolCalls: [{name: write_file, args: {path: OTHER/../third.txt, content: changed}}]
- text: done
`, "OTHER", other), 0o644)
	if err := os.MkdirAll(filepath.Join(other, ".acai/hooks"), 0o755); err != nil {
		t.Fatal(err)
	}
	c.write("other/.acai/hooks/all.sh", "#!/bin/sh\n# hook: events=tool-call-start can=block\necho '{\"action\":\"block\",\"reason\":\"never\"}'\n", 0o755)
	c.write("other/a.txt", "old", 0o644)
	c.hook("guard.sh", "events=tool-call-start can=block", `case $(cat) in *'"realPath":"`+other+`/guarded.txt"'*) echo '{"action":"block","reason":"it is guarded"}' ;; esac`)
	c.answer = chooses("allow")
	c.start()
	var can acp.InitializeResult
	c.call(acp.Initialize, object{"protocolVersion": 1}, &can)
	if can.AgentCapabilities.SessionCapabilities.AdditionalDirectories == nil {
		t.Errorf("it is not announced: %+v", can)
	}
	var opened acp.NewResult
	c.call(acp.SessionNew, object{"cwd": c.project, "mcpServers": []any{}, "additionalDirectories": []any{other}}, &opened)
	c.prompt(opened.SessionID, text("go")...)
	log := strings.Join(c.log, "\n")
	for _, want := range []string{`"text":"` + "```\\nold\\n```" + `"`, `"oldText":"old"`, "it is guarded", "belongs to the hooks", "outside the project folder"} {
		if !strings.Contains(log, want) {
			t.Errorf("no %s: %s", want, log)
		}
	}
	for path, want := range map[string]string{"other/a.txt": "changed", "other/guarded.txt": "", "third.txt": "", "other/.acai/hooks/x.sh": ""} {
		if got, _ := os.ReadFile(filepath.Join(c.folder, path)); string(got) != want {
			t.Errorf("%s holds %q", path, got)
		}
	}

	// A session that is resumed has the folders that are handed in then.
	c.call(acp.SessionClose, object{"sessionId": opened.SessionID}, nil)
	c.write("other/a.txt", "between", 0o644)
	c.call(acp.SessionResume, object{"sessionId": opened.SessionID, "cwd": c.project, "mcpServers": []any{}}, nil)
	c.prompt(opened.SessionID, text("go")...)
	if got, _ := os.ReadFile(filepath.Join(other, "a.txt")); string(got) != "between" {
		t.Errorf("the folder of the session before was written: %s", got)
	}
}

// A folder that is handed in by a link is what the link leads to when the session begins.
func TestFoldersByALink(t *testing.T) {
	c := newClient(t, "turns: []")
	link := filepath.Join(c.folder, "link")
	c.write("model.yaml", strings.ReplaceAll(`turns:
- toolCalls: [{name: write_file, args: {path: LINK/first.txt, content: x}}]
- text: done
- toolCalls: [{name: write_file, args: {path: LINK/second.txt, content: x}}]
- text: done
`, "LINK", link), 0o644)
	for _, folder := range []string{"one", "two"} {
		if err := os.Mkdir(filepath.Join(c.folder, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	leadsTo := func(folder string) {
		_ = os.Remove(link) // if it is there
		if err := os.Symlink(filepath.Join(c.folder, folder), link); err != nil {
			t.Skipf("a link cannot be made here (Windows lets few users): %v", err)
		}
	}
	leadsTo("one")
	c.answer = chooses("allow")
	c.start()
	c.initialize(object{})
	var opened acp.NewResult
	c.call(acp.SessionNew, object{"cwd": c.project, "mcpServers": []any{}, "additionalDirectories": []any{link}}, &opened)
	c.prompt(opened.SessionID, text("go")...)
	leadsTo("two")
	c.prompt(opened.SessionID, text("go on")...)
	for path, want := range map[string]bool{"one/first.txt": true, "two/second.txt": false, "one/second.txt": false} {
		if _, err := os.Stat(filepath.Join(c.folder, path)); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
	if log := strings.Join(c.log, "\n"); !strings.Contains(log, "outside the project folder") {
		t.Error(log)
	}
}

// What is no folder is an error that says where it stands.
func TestFoldersThatAreNone(t *testing.T) {
	c := newClient(t, "turns:\n- text: after")
	c.start()
	c.initialize(object{})
	if err := os.MkdirAll(filepath.Join(c.folder, "deep/er"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(c.folder, "deep/er"), filepath.Join(c.folder, "link")); err != nil {
		t.Fatal(err)
	}
	for folder, want := range map[string]string{c.folder + "/link/..": "a link stands before .. in it", "relative": "must be an absolute path", "": "must be an absolute path", filepath.Join(c.folder, "missing"): "is not a folder", filepath.Join(c.folder, "model.yaml"): "is not a folder"} {
		e := c.fails(acp.SessionNew, object{"cwd": c.project, "mcpServers": []any{}, "additionalDirectories": []any{c.project, folder}})
		if e.Code != rpc.InvalidParams || !strings.Contains(e.Message, want) || !strings.Contains(encode(e.Data), "/additionalDirectories/1") {
			t.Errorf("%q: %v %v", folder, e, e.Data)
		}
	}
}

// What the command has to say about where it was started is told in each session, before the model
// says a word.
func TestWhereHookdWasStartedIsTold(t *testing.T) {
	c := newClient(t, "turns:\n- text: after\n- text: after")
	c.starts = "HOME is /other"
	c.start()
	c.initialize(object{})
	for range 2 {
		at := len(c.log)
		c.prompt(c.session(), text("go")...)
		log := strings.Join(c.log[at:], "\n")
		if at := strings.Index(log, "HOME is /other"); at < 0 || at > strings.Index(log, "after") {
			t.Error(log)
		}
	}
}
