package mcphttp

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The official library's client works with its server over HTTP through this package, in the
// newest revision and in the one before: calls, progress, questions, lists that change.
func TestOfficialLibrary(t *testing.T) {
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			server := sdk.NewServer(&sdk.Implementation{Name: "s", Version: "1"}, nil)
			type args struct {
				City string `json:"city"`
			}
			sdk.AddTool(server, &sdk.Tool{Name: "say"}, func(ctx context.Context, r *sdk.CallToolRequest, in args) (*sdk.CallToolResult, any, error) {
				if token := r.Params.GetProgressToken(); token != nil {
					r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: 1})
				}
				return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "said " + in.City}}}, nil, nil
			})
			handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{Stateless: version == "2026-07-28"})
			web := httptest.NewServer(handler)
			defer web.Close()
			process, err := Start(Options{URL: web.URL, Note: func(text string) { t.Log(text) }})
			if err != nil {
				t.Fatal(err)
			}
			progress := make(chan float64, 10)
			client := sdk.NewClient(&sdk.Implementation{Name: "c", Version: "1"}, &sdk.ClientOptions{
				ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { progress <- r.Params.Progress },
			})
			session, err := client.Connect(t.Context(), &sdk.IOTransport{Reader: process.Out, Writer: process.In}, &sdk.ClientSessionOptions{ProtocolVersion: version})
			if err != nil || session.InitializeResult().ProtocolVersion != version {
				t.Fatalf("%v %+v", err, session)
			}
			if list, err := session.ListTools(t.Context(), nil); err != nil || len(list.Tools) != 1 {
				t.Fatalf("%v %+v", err, list)
			}
			params := &sdk.CallToolParams{Name: "say", Arguments: map[string]any{"city": "Zürich"}}
			params.SetProgressToken("p")
			result, err := session.CallTool(t.Context(), params)
			if err != nil || len(result.Content) != 1 || result.Content[0].(*sdk.TextContent).Text != "said Zürich" {
				t.Fatalf("%v %+v", err, result)
			}
			select {
			case <-progress:
			case <-time.After(5 * time.Second):
				t.Error("no progress came")
			}
			if _, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "none"}); err == nil || !strings.Contains(err.Error(), "none") {
				t.Error(err)
			}
			session.Close()
			process.End(time.Second)
		})
	}
}
