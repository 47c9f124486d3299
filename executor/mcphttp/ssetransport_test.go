package mcphttp

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// olderServer has the older transport at the address of the stage, and posts at /post. What it is to
// say is sent to its channel; a closed one ends its stream.
func olderServer(t *testing.T, status int, first string) (b *box, says chan string) {
	says = make(chan string)
	b = serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		switch {
		case r.Method == http.MethodPost && r.URL.Path == "/post" && strings.Contains(body, "refuse"):
			w.WriteHeader(http.StatusInternalServerError)
		case r.Method == http.MethodPost && r.URL.Path == "/post":
			w.WriteHeader(http.StatusAccepted)
		case r.Method != http.MethodGet:
			w.WriteHeader(status)
		default:
			asEvents(w, first)
			for {
				select {
				case event, more := <-says:
					if !more {
						return
					}
					asEvents(w, event)
				case <-r.Context().Done():
					return
				}
			}
		}
	})
	return b, says
}

// A server that has only the older transport is reached over that: each request is answered by the
// stream, or in the server's place.
func TestOlderTransport(t *testing.T) {
	for _, status := range []int{400, 404, 405} {
		b, says := olderServer(t, status, "event: endpoint\ndata: /post?s=1")
		b.say(initialize)
		b.sees("POST", initialize)
		b.sees("GET")
		says <- `event: message` + "\n" + `data: {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2024-11-05"}}`
		b.reads(`"id":0,"result"`)
		b.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		b.say(`{"jsonrpc":"2.0","id":1,"method":"x"}`)
		b.say(`{"jsonrpc":"2.0","id":2,"method":"y"}`)
		b.sees("POST Authorization=Bearer key", `"method":"y"`)
		says <- `data: {"jsonrpc":"2.0","method":"notifications/z"}`
		says <- `data: {"jsonrpc":"2.0","id":2,"result":{"n":1.0}}`
		b.reads(`notifications/z`)
		b.reads(`{"jsonrpc":"2.0","id":2,"result":{"n":1.0}}`)
		b.say(`{"jsonrpc":"2.0","id":3,"method":"refuse"}`)
		b.reads(`"id":3,"error":{"code":-32000,"message":"hookd: the MCP server answered 500`)
		b.say(`{"jsonrpc":"2.0","id":4,"method":"given up"}`)
		b.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}`)
		b.sees("POST", "notifications/cancelled")
		close(says)
		b.reads(`"id":1,"error":{"code":-32000,"message":"hookd: its stream has ended`)
		b.reads("") // nothing more
		if how := b.process.How(); !strings.Contains(how, "its stream has ended") {
			t.Error(how)
		}
		b.mu.Lock()
		for _, request := range b.seen[1:] {
			if strings.HasPrefix(request, "GET") && request != "GET Authorization=Bearer key " {
				t.Error(request)
			}
		}
		b.mu.Unlock()
	}
}

// What may be no older transport is not taken for it, and keys go to no other server.
func TestWhatIsNotTheOlderTransport(t *testing.T) {
	stolen := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was reached") }))
	defer stolen.Close()
	for first, status := range map[string]int{
		"event: endpoint\ndata: " + stolen.URL + "/post": 404,
		"data: /post":                   404,
		"event: message\ndata: {}":      405,
		": nothing\n":                   405,
		"event: endpoint\ndata: http:/": 404,
		"event: endpoint\ndata: /post":  401,
	} {
		b, says := olderServer(t, status, first)
		if strings.HasPrefix(first, ":") {
			close(says)
		}
		b.say(initialize)
		b.reads(`"id":0,"error":{"code":-32000,"message":"hookd: the MCP server answered 4`)
		b.process.End(0)
	}
	asked := serve(t, func(w http.ResponseWriter, r *http.Request, _ string) {
		if r.Method == http.MethodGet {
			t.Error("another transport is looked for")
		}
		asJSON(w, http.StatusBadRequest, `{"jsonrpc":"2.0","id":0,"error":{"code":-32602,"message":"which version?"}}`)
	})
	asked.say(initialize)
	asked.reads("which version?")
}

// The address that messages are posted to may be written in any way, and the name and password of the
// server's are sent to it. A later one, and events of other names, mean nothing.
func TestAddressesOfTheOlderTransport(t *testing.T) {
	for _, write := range []func(server string) string{
		func(string) string { return "/post?s=1" },
		func(server string) string { return server + "/post" },
		func(server string) string { return strings.Replace(server, "http", "HTTP", 1) + "/post" },
		func(server string) string { return strings.TrimPrefix(server, "http:") + "/post" },
		func(server string) string { return strings.Replace(server, "//", "//other:key@", 1) + "/post" },
	} {
		var posts string
		stolen := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was reached") }))
		says := make(chan string)
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if user, key, _ := r.BasicAuth(); user != "u" || key != "p" {
				t.Errorf("%s %s of %q %q", r.Method, r.URL, user, key)
			}
			switch {
			case r.Method == http.MethodPost && r.URL.Path == "/post":
				w.WriteHeader(http.StatusAccepted)
				says <- "event: ping\ndata: now"
				says <- "event: endpoint\ndata: " + stolen.URL
				says <- `data: {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2024-11-05"}}`
			case r.Method == http.MethodPost:
				w.WriteHeader(http.StatusMethodNotAllowed)
			default:
				asEvents(w, "event: ping\ndata: now\n\nevent: endpoint\ndata: "+posts)
				for {
					select {
					case event := <-says:
						asEvents(w, event)
					case <-r.Context().Done():
						return
					}
				}
			}
		}))
		posts = write(web.URL)
		process, err := Start(Options{URL: strings.Replace(web.URL, "//", "//u:p@", 1) + "/sse", Note: func(text string) { t.Errorf("%s: %s", posts, text) }})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(process.In, initialize+"\n"); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(process.Out).ReadString('\n'); !strings.Contains(line, `"result"`) {
			t.Errorf("%s: %s %v", posts, line, err)
		}
		process.End(time.Second)
		web.Close()
		stolen.Close()
	}
}

// Two addresses are of one server if their schemes, hosts and ports are the same.
func TestSameServer(t *testing.T) {
	for other, want := range map[string]bool{
		"https://a.test/x": true, "HTTPS://A.Test:443": true, "https://u@a.test": true,
		"http://a.test": false, "https://a.test:444": false, "https://b.test": false, "https://a.test.b": false, "https:/a.test": false, "https://a.test:0443": false,
	} {
		a, b := address(t, "https://a.test/"), address(t, other)
		if isSameServer(a, b) != want || isSameServer(b, a) != want {
			t.Errorf("%s: %v", other, !want)
		}
	}
}

func address(t *testing.T, text string) *url.URL {
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// The official library's client works with its server over the older transport.
func TestOfficialLibraryOverTheOlderTransport(t *testing.T) {
	server := sdk.NewServer(&sdk.Implementation{Name: "s", Version: "1"}, nil)
	type args struct {
		City string `json:"city"`
	}
	sdk.AddTool(server, &sdk.Tool{Name: "say"}, func(ctx context.Context, r *sdk.CallToolRequest, in args) (*sdk.CallToolResult, any, error) {
		r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: 1})
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "said " + in.City}}}, nil, nil
	})
	web := httptest.NewServer(sdk.NewSSEHandler(func(*http.Request) *sdk.Server { return server }, nil))
	defer web.Close()
	process, err := Start(Options{URL: web.URL + "/sse", Note: func(text string) { t.Log(text) }})
	if err != nil {
		t.Fatal(err)
	}
	progress := make(chan float64, 10)
	client := sdk.NewClient(&sdk.Implementation{Name: "c", Version: "1"}, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { progress <- r.Params.Progress },
	})
	session, err := client.Connect(t.Context(), &sdk.IOTransport{Reader: process.Out, Writer: process.In}, nil)
	if err != nil {
		t.Fatal(err)
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
	session.Close()
	process.End(5 * time.Second)
	<-process.Done
}
