package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// serverKinds are the servers that the test binary can be.
var serverKinds = map[string]func(){
	"good":   func() { serve(goodServer()) },
	"banner": func() { fmt.Printf("Welcome to the server!\n\n  listening …\n"); serve(goodServer()) },
	"never":  func() { time.Sleep(time.Hour) },
	"dies at once": func() {
		fmt.Fprintln(os.Stderr, "the variable KEY is not set")
		os.Exit(3)
	},
	"tells its key": func() {
		fmt.Fprintf(os.Stderr, "cannot start with API_KEY=%s REGION=%s\n", os.Getenv("API_KEY"), os.Getenv("REGION"))
		os.Exit(3)
	},
	"clings": func() { // ends neither with its stdin nor by TERM, and is not alone
		signal.Ignore(syscall.SIGTERM)
		exec.Command("sleep", "61").Start()
		exec.Command("setsid", "sleep", "61").Start()
		serve(goodServer())
		time.Sleep(time.Hour)
	},
	"garbage":       func() { fmt.Println(`{"jsonrpc":"2.0","id":1,`); time.Sleep(time.Hour) },
	"chatter":       func() { fmt.Print(strings.Repeat("Loading module\n", 80_000)); time.Sleep(time.Hour) },
	"endless":       func() { flood("x") },
	"old":           func() { answer(legacy("1999-01-01")) },
	"silent":        func() { answer(legacy("2025-06-18")) },
	"fragile":       func() { answer(fragile) },
	"many":          func() { serve(manyTools(230, 50)) },
	"too many":      func() { answer(tooMany) },
	"pages":         func() { answer(pages) },
	"odd tools":     func() { answer(oddTools) },
	"batch":         func() { answer(batch) },
	"stuck":         func() { answer(stuck) },
	"giant":         func() { answer(giant(2_000_000)) },
	"schemas":       func() { answer(schemas) },
	"crowd":         func() { answer(crowd()) },
	"vast":          func() { answer(giant(30_000_000)) },
	"one too large": func() { answer(vastSchema) },
}

func serve(s *sdk.Server) { s.Run(context.Background(), &sdk.StdioTransport{}) }

func flood(piece string) {
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	for {
		if _, err := out.WriteString(piece); err != nil {
			os.Exit(1)
		}
	}
}

const anyObject = `{"type":"object"}`

func add(s *sdk.Server, name string, do func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error)) {
	s.AddTool(&sdk.Tool{Name: name, Description: "does " + name, InputSchema: json.RawMessage(anyObject)}, do)
}

func says(text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}

// goodServer has a tool for each way in which one can answer.
func goodServer() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	s.AddTool(&sdk.Tool{
		Name: "echo", Description: "says it again", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true},
		InputSchema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"},"count":{"type":"integer","maximum":12345678901234567890}},"required":["text"]}`),
	}, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return says(string(r.Params.Arguments)), nil
	})
	add(s, "where", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		dir, _ := os.Getwd()
		return says(dir + " " + os.Getenv("MCP_TEST_SERVER")), nil
	})
	add(s, "roots", func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		//lint:ignore SA1019 servers of today ask for roots
		return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"r": &sdk.ListRootsParams{}}}, nil
	})
	add(s, "asks", func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"r": &sdk.ElicitParams{Message: "password?"}}}, nil
	})
	add(s, "slow", slow)
	add(s, "fails", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		r := says("no such branch")
		r.IsError = true
		return r, nil
	})
	add(s, "refuses", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "count must be odd"}
	})
	add(s, "breaks", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return nil, errors.New("disk on fire")
	})
	add(s, "huge", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return says(strings.Repeat("ü", 4<<20)), nil
	})
	add(s, "structured", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{StructuredContent: json.RawMessage(`{"z":12345678901234567890,"a":[]}`)}, nil
	})
	add(s, "progress", func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		for i := range 3 {
			r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i + 1), Total: 3, Message: "reading"})
			time.Sleep(300 * time.Millisecond)
		}
		return says("read"), nil
	})
	add(s, "dies", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		fmt.Fprintln(os.Stderr, "out of memory")
		os.Exit(7)
		return nil, nil
	})
	add(s, "grows", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		add(s, "grown", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return says("new"), nil })
		return says("one more"), nil
	})
	return s
}

// slow waits until it is cancelled, and leaves a file that says so.
func slow(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	os.WriteFile("slow-began", nil, 0o600)
	select {
	case <-ctx.Done():
		os.WriteFile("slow-cancelled", nil, 0o600)
		return nil, ctx.Err()
	case <-time.After(time.Minute):
		return says("late"), nil
	}
}

func manyTools(n, page int) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ServerOptions{PageSize: page})
	for i := range n {
		add(s, fmt.Sprintf("tool%04d", i), func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return says("ok"), nil })
	}
	return s
}

// request is what a server by hand gets.
type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// answer is a server by hand: what do returns is written, after the id is put in
// place of ID.
func answer(do func(request) string) {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var r request
		json.Unmarshal(in.Bytes(), &r)
		if line := do(r); line != "" {
			fmt.Println(strings.ReplaceAll(line, "ID", string(r.ID)))
		}
	}
}

// legacy knows one old revision, and is silent on what it does not know.
func legacy(revision string) func(request) string {
	return func(r request) string {
		switch r.Method {
		case "initialize":
			return `{"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":"` + revision + `","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}`
		case "tools/list":
			return `{"jsonrpc":"2.0","id":ID,"result":{"tools":[{"name":"old","inputSchema":{"type":"object"}}]}}`
		case "tools/call":
			return `{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"from old"}]}}`
		}
		return ""
	}
}

// fragile ends at the first question that it does not know.
func fragile(r request) string {
	if line := legacy("2024-11-05")(r); line != "" || strings.HasPrefix(r.Method, "notifications/") {
		return line
	}
	os.Exit(1)
	return ""
}

func oddTools(r request) string {
	switch r.Method {
	case "tools/list":
		return `{"jsonrpc":"2.0","id":ID,"result":{"tools":[{"name":"a.b","inputSchema":{"type":"object"}},{"name":"a b","inputSchema":{"type":"object"}},{"name":"","inputSchema":{}},{"name":"bad","inputSchema":{"type":7}},{"name":"` + strings.Repeat("long", 30) + `","title":"only a title","inputSchema":{"type":"object"}},{"name":"лес","inputSchema":{"type":"object","properties":{"a":{"type":"string","pattern":"^(?!x)"},"b":{"pattern":"^y"}},"patternProperties":{"(?=a)":{}}}}]}}`
	case "tools/call":
		return `{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"hologram"},{"type":"text","text":"seen"}]}}`
	}
	return legacy("2025-06-18")(r)
}

// listing is a server that lists a tool, as it is written, between two good ones.
func listing(written string) func(request) string {
	return func(r request) string {
		if r.Method == "tools/list" {
			return `{"jsonrpc":"2.0","id":ID,"result":{"tools":[{"name":"first","inputSchema":{"type":"object"}},` + written + `,{"name":"last","inputSchema":{"type":"object"}}]}}`
		}
		return legacy("2025-06-18")(r)
	}
}

func tooMany(r request) string {
	if r.Method == "tools/list" {
		return `{"jsonrpc":"2.0","id":ID,"result":{"tools":[{"name":"a"}` + strings.Repeat(`,{"name":"b"}`, 1000) + `]}}`
	}
	return legacy("2025-06-18")(r)
}

// pages lists without end.
func pages(r request) string {
	if r.Method == "tools/list" {
		return `{"jsonrpc":"2.0","id":ID,"result":{"tools":[],"nextCursor":"more"}}`
	}
	return legacy("2025-06-18")(r)
}

// batch answers in the batches of 2025-03-26.
func batch(r request) string {
	if line := legacy("2025-03-26")(r); line != "" {
		return `[` + line + `,{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}]`
	}
	return ""
}

// stuck reads nothing more once its tools are listed.
func stuck(r request) string {
	if r.Method == "tools/list" {
		fmt.Println(strings.ReplaceAll(legacy("2025-06-18")(r), "ID", string(r.ID)))
		time.Sleep(time.Hour)
	}
	return legacy("2025-06-18")(r)
}

// giant answers a call with so many bytes of text, which JSON has to escape.
func giant(size int) func(request) string {
	text := strings.Repeat(`a line of a log, \"quoted\"\n`, size/29)
	return func(r request) string {
		switch line := legacy("2025-06-18")(r); {
		case r.Method == "tools/call":
			return `{"jsonrpc":"2.0","id":` + string(r.ID) + `,"result":{"content":[{"type":"text","text":"` + text + `"}]}}`
		case line == "" && len(r.ID) > 0:
			return `{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"unknown"}}`
		default:
			return line
		}
	}
}
