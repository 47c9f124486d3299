package mcpproxy

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hookd-dev/hookd/executor"
	"github.com/hookd-dev/hookd/executor/proxied"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/rpc/relay"
	"github.com/hookd-dev/hookd/test/dialogue"
)

// The official library's client asks its person what a hook asks, in the newest revision and
// in the one before, and works with its server as without the proxy.
func TestOfficialLibrary(t *testing.T) {
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			e, err := executor.Static(dialogue.HookOn(protocol.ToolCallStart, func(_ context.Context, ev *protocol.Event) (protocol.Reply, error) {
				if strings.Contains(string(ev.Data), "careful") {
					return protocol.Reply{Action: protocol.Ask, Reason: "really?"}, nil
				}
				if strings.Contains(string(ev.Data), `none"`) {
					return protocol.BlockReply("not allowed here"), nil
				}
				return protocol.Reply{}, nil
			}))
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close(t.Context())
			clientIn, client := io.Pipe()
			toClient, clientOut := io.Pipe()
			toServer, serverIn := io.Pipe()
			serverOut, server := io.Pipe()

			s := sdk.NewServer(&sdk.Implementation{Name: "s", Version: "1"}, nil)
			type args struct {
				Text string `json:"text"`
			}
			sdk.AddTool(s, &sdk.Tool{Name: "say"}, func(_ context.Context, _ *sdk.CallToolRequest, in args) (*sdk.CallToolResult, any, error) {
				return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "said " + in.Text}}}, nil, nil
			})
			s.AddResourceTemplate(&sdk.ResourceTemplate{Name: "text", URITemplate: "text:{text}"}, func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
				return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, Text: "read " + r.Params.URI}}}, nil
			})
			s.AddPrompt(&sdk.Prompt{Name: "prompt"}, func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
				return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: "about " + r.Params.Arguments["text"]}}}}, nil
			})
			go s.Run(t.Context(), &sdk.IOTransport{Reader: toServer, Writer: server})
			ended := make(chan error, 1)
			go func() {
				ended <- Run(t.Context(), relay.Stream{In: clientIn, Out: clientOut}, &proxied.Process{
					In: serverIn, Out: serverOut, Done: make(chan struct{}), End: func(time.Duration) { toServer.Close(); serverOut.Close() },
				}, Options{Hooks: dialogue.Gate{Executor: e}, Server: "t", Session: "s", Cwd: "/"})
			}()

			answers := map[string]*sdk.ElicitResult{
				"careful yes":       {Action: "accept", Content: map[string]any{"answer": "allow"}},
				"careful no":        {Action: "accept", Content: map[string]any{"answer": "refuse"}},
				"careful, declined": {Action: "decline"},
			}
			asked := 0
			c := sdk.NewClient(&sdk.Implementation{Name: "c", Version: "1"}, &sdk.ClientOptions{
				ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
					asked++
					for text, answer := range answers {
						if strings.Contains(r.Params.Message, `"text":"`+text+`"`) || strings.Contains(r.Params.Message, `"text:`+strings.ReplaceAll(text, " ", "%20")+`"`) {
							return answer, nil
						}
					}
					return &sdk.ElicitResult{Action: "cancel"}, nil
				},
			})
			session, err := c.Connect(t.Context(), &sdk.IOTransport{Reader: toClient, Writer: client}, &sdk.ClientSessionOptions{ProtocolVersion: version})
			if err != nil || session.InitializeResult().ProtocolVersion != version {
				t.Fatalf("%v %+v", err, session)
			}
			const denied = "denied by the person (really?)"
			for text, want := range map[string]string{"hello": "said hello", "careful yes": "said careful yes", "careful no": denied, "careful, declined": denied} {
				result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "say", Arguments: map[string]any{"text": text}})
				if err != nil || len(result.Content) != 1 {
					t.Errorf("%s: %+v %v", text, result, err)
					continue
				}
				if got := result.Content[0].(*sdk.TextContent).Text; got != want {
					t.Errorf("%s: %s", text, got)
				}
			}
			for text, want := range map[string]string{"hello": "", "careful%20yes": "", "careful%20no": denied, "none": "not allowed here"} {
				got := ""
				result, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "text:" + text})
				if err == nil && len(result.Contents) == 1 {
					got = result.Contents[0].Text
				}
				if want == "" && got != "read text:"+text || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
					t.Errorf("%s: %q %v", text, got, err)
				}
			}
			for text, want := range map[string]string{"hello": "", "careful yes": "", "careful no": denied, "none": "not allowed here"} {
				got := ""
				result, err := session.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "prompt", Arguments: map[string]string{"text": text}})
				if err == nil && len(result.Messages) == 1 {
					got = result.Messages[0].Content.(*sdk.TextContent).Text
				}
				if want == "" && got != "about "+text || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
					t.Errorf("%s: %q %v", text, got, err)
				}
			}
			if asked != 7 {
				t.Errorf("the person was asked %d times", asked)
			}
			session.Close()
			<-ended
		})
	}
}
