package chain

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hookd-dev/hookd/executor/proxied"
	"github.com/hookd-dev/hookd/internal/jsonspan"
	"github.com/hookd-dev/hookd/protocol"
	"github.com/hookd-dev/hookd/protocol/acp"
)

// The conversation of a real conductor and a real agent passes as it was recorded: but for the
// ids of hookd's own requests, and the blanks around what goes into an envelope.
func TestConversationThroughAConductor(t *testing.T) {
	text, err := os.ReadFile("testdata/copilot-conductor.proxy-side.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	s := newStage(t, "")
	ids := map[string]string{} // of requests of the recorded proxy → hookd's
	count := 0
	for line := range strings.Lines(string(text)) {
		message := jsonspan.Get([]byte(line), "m")
		id, isRequest := string(jsonspan.Get(message, "id")), jsonspan.Get(message, "method") != nil
		if jsonspan.Text(jsonspan.Get([]byte(line), "dir")) == "conductor>proxy" {
			if !isRequest {
				message = bytes.Replace(message, []byte(`"id": `+id), []byte(`"id": `+ids[id]), 1)
			}
			s.says(string(message))
			continue
		}
		count++
		if isRequest && id != "" {
			ids[id] = fmt.Sprintf(`"chain-%d"`, len(ids)+1)
			message = bytes.Replace(message, []byte(`"id": `+id), []byte(`"id": `+ids[id]), 1)
		}
		got := s.next()
		for _, part := range []string{"/params/params", "/params", "/result"} {
			if inner := jsonspan.Find(message, part); inner != nil && count > 2 { // the second says that hookd is a proxy
				if string(jsonspan.Find([]byte(got), part)) != string(inner) {
					t.Fatalf("got  %s\nwant %s", got, message)
				}
				break
			}
		}
		if compact(t, []byte(got)) != compact(t, message) {
			t.Fatalf("got  %s\nwant %s", got, message)
		}
	}
	if count < 15 {
		t.Errorf("%d messages of the proxy", count)
	}
}

func compact(t *testing.T, text []byte) string {
	t.Helper()
	var out bytes.Buffer
	if err := json.Compact(&out, text); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out.String()
}

// Each dialect begins in its own way, answers so, and has its own envelopes.
func TestDialects(t *testing.T) {
	for name, test := range map[string]struct {
		begin, inner, result string
		send, receive        envelopes
	}{
		"of the protocol": {`"method":"proxy/initialize","params":{"protocolVersion":1,"_meta":{"n":1.0}}`, `{"protocolVersion":1,"_meta":{"n":1.0}}`, `{"protocolVersion":1}`, both("proxy/successor"), both("proxy/successor")},
		"before that":     {`"method":"_proxy/initialize","params":{"protocolVersion":1}`, `{"protocolVersion":1}`, `{"protocolVersion":1}`, both("_proxy/successor"), both("_proxy/successor")},
		"with a mark":     {`"method":"initialize","params":{"_meta":{"proxy":true, "k":"v"},"protocolVersion":1}`, `{"_meta":{"k":"v"},"protocolVersion":1}`, `{"protocolVersion":1,"_meta":{"proxy":true}}`, oneEach("_proxy/successor/"), oneEach("_proxy/successor/")},
		"with a mark in the capabilities": {
			`"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"_meta":{"symposium":{"proxy":true}}}}`, `{"protocolVersion":1,"clientCapabilities":{"_meta":{"symposium":{}}}}`,
			`{"protocolVersion":1,"agentCapabilities":{"_meta":{"symposium":{"proxy":true}}}}`, oneEach("_proxy/successor/"), oneEach("_proxy/successor/"),
		},
		"the first": {
			`"method":"initialize","params":{"protocolVersion":1,"_meta":{"symposium":{"version":"1.0","proxy":true}}}`, `{"protocolVersion":1,"_meta":{"symposium":{"version":"1.0"}}}`,
			`{"protocolVersion":1,"_meta":{"symposium":{"proxy":true}}}`, oneEach("_proxy/successor/send/"), oneEach("_proxy/successor/receive/"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, "")
			s.says(`{"jsonrpc":"2.0","id":"a",` + test.begin + `}`)
			s.reads(`{"jsonrpc":"2.0","id":"chain-1","method":"` + test.send.request + `","params":{"method":"initialize","params":` + test.inner + `}}`)
			s.says(`{"jsonrpc":"2.0","id":"chain-1","result":{"protocolVersion":1}}`)
			s.reads(`{"jsonrpc":"2.0","id":"a","result":` + test.result + `}`)
			s.says(`{"jsonrpc":"2.0","method":"_x/y","params":{"n":12345678901234567890}}`)
			s.reads(`{"jsonrpc":"2.0","method":"` + test.send.notification + `","params":{"method":"_x/y","params":{"n":12345678901234567890}}}`)
			s.says(`{"jsonrpc":"2.0","method":"` + test.receive.notification + `","params":{"method":"_x/z"}}`)
			s.reads(`{"jsonrpc":"2.0","method":"_x/z"}`)
			s.says(`{"jsonrpc":"2.0","id":7,"method":"` + test.receive.request + `","params":{"_meta":{"hop":1},"method":"_x\/ask","params":null}, "more":1.0}`)
			s.reads(`{"jsonrpc":"2.0","id":"chain-2","method":"_x\/ask","more":1.0}`)
			s.says(`{"jsonrpc":"2.0","id":"chain-2","error":{"code":-1,"message":"m","data":1e400}}`)
			s.reads(`{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"m","data":1e400}}`)
		})
	}
}

// What does not begin a chain begins none, and the reason is said to both sides.
func TestWhatBeginsNoChain(t *testing.T) {
	for name, test := range map[string][2]string{
		"an editor":                  {`"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}`, "write hookd acp -- AGENT"},
		"an editor that says no":     {`"method":"initialize","params":{"protocolVersion":1,"_meta":{"proxy":false}}`, "write hookd acp -- AGENT"},
		"a mark that is no true":     {`"method":"initialize","params":{"protocolVersion":1,"_meta":{"proxy":"true"}}`, "write hookd acp -- AGENT"},
		"a mark twice":               {`"method":"initialize","params":{"protocolVersion":1,"_meta":{"proxy":false,"proxy":true}}`, "a member twice"},
		"two marks":                  {`"method":"initialize","params":{"protocolVersion":1,"_meta":{"proxy":true,"symposium":{"proxy":true}}}`, "in two ways"},
		"no params":                  {`"method":"proxy/initialize"`, "no object"},
		"a session before the chain": {`"method":"session/new","params":{"cwd":"/","mcpServers":[]}`, "the chain has not begun"},
		"an envelope before it":      {`"method":"proxy/successor","params":{"method":"session/request_permission"}`, "the chain has not begun"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, "")
			s.says(`{"jsonrpc":"2.0","id":5,` + test[0] + `}`)
			s.has(`"id":5,"error":{"code":-32600,`, test[1])
			s.noted(test[1])
			s.begins() // nothing is lost
		})
	}
}

// A refused prompt does not leave hookd, and a refused permission is answered to the successor.
func TestHooksJudgeInAChain(t *testing.T) {
	s := newStage(t, "", refuses(protocol.ToolCallStart), refuses(protocol.PromptSubmit))
	s.begins()
	s.says(promptLine("3", "go"))
	s.has(`"method":"session/update"`, "not here")
	s.reads(`{"jsonrpc":"2.0","id":3,"result":{"stopReason":"refusal"}}`)
	s.says(from("3", acp.SessionRequestPermission, permission))
	both := s.next() + s.next() // the notice of why to the client, the answer to the successor
	if !strings.Contains(both, `{"jsonrpc":"2.0","id":3,"result":{"outcome":{"outcome":"selected","optionId":"n"`) || !strings.Contains(both, "refused the call of bash: not here") {
		t.Error(both)
	}
}

// A mode is set with requests of the proxy's own, which are in envelopes.
func TestModeInAChain(t *testing.T) {
	s := newStage(t, "ask")
	s.says(`{"jsonrpc":"2.0","id":1,"method":"proxy/initialize","params":{"protocolVersion":1}}`)
	s.has("initialize")
	s.says(`{"jsonrpc":"2.0","id":"chain-1","result":{"protocolVersion":1}}`)
	s.has(`"id":1`)
	s.says(`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/","mcpServers":[{"name":"m","command":"/x","args":[],"env":[]},{"name":"a","type":"http","url":"acp:1","headers":[]}]}}`)
	s.has(`"proxy/successor"`, `"command":"/bin/hookd","args":["mcp","--name","m"]`, `"url":"acp:1"`)
	s.noted(`"a" (acp) is not guarded`)
	s.says(`{"jsonrpc":"2.0","id":"chain-2","result":{"sessionId":"s","modes":{"currentModeId":"free","availableModes":[{"id":"free","name":"F"},{"id":"ask","name":"A"}]}}}`)
	s.has(`"id":"chain-3","method":"proxy/successor"`, `"method":"session/set_mode"`, `"modeId":"ask"`)
	s.says(`{"jsonrpc":"2.0","id":"chain-3","result":{}}`)
	s.has(`"id":2,`, `"currentModeId":"ask"`)
}

// The same id on both sides, in both directions and of hookd itself means what its sender means.
func TestIDsThatAreTheSame(t *testing.T) {
	s := newStage(t, "")
	s.begins()
	s.says(promptLine(`"chain-4"`, "go"))
	s.reads(sent1(3, acp.SessionPrompt, promptOf("go")))
	s.says(from(`"chain-3"`, acp.SessionRequestPermission, permission))
	s.reads(`{"jsonrpc":"2.0","id":"chain-4","method":"session/request_permission","params":` + permission + `}`)
	s.says(`{"jsonrpc":"2.0","id":"chain-4","result":{"outcome":{"outcome":"selected","optionId":"y"}}}`)
	s.reads(`{"jsonrpc":"2.0","id":"chain-3","result":{"outcome":{"outcome":"selected","optionId":"y"}}}`)
	s.says(`{"jsonrpc":"2.0","id":"chain-3","result":{"stopReason":"end_turn"}}`)
	s.reads(`{"jsonrpc":"2.0","id":"chain-4","result":{"stopReason":"end_turn"}}`)
	// Ids of the conductor are one space: a second open one is refused, whichever side it is of.
	s.says(`{"jsonrpc":"2.0","id":9.0,"method":"_a"}`)
	s.reads(`{"jsonrpc":"2.0","id":"chain-5","method":"proxy/successor","params":{"method":"_a"}}`)
	s.says(from("9", "_b", "{}"))
	s.has(`"id":9,"error"`, "another request with this id")
	s.says(`{"jsonrpc":"2.0","id":"chain-5","result":1.0}`)
	s.reads(`{"jsonrpc":"2.0","id":9.0,"result":1.0}`)
	// What was answered, or never asked, has no second answer.
	s.says(`{"jsonrpc":"2.0","id":"chain-5","result":2}`)
	s.says(`{"jsonrpc":"2.0","id":"chain-99","result":{"outcome":{"outcome":"selected","optionId":"y"}}}`)
	s.says(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`)
	s.noted("an answer to what hookd has not asked")
	s.says(`{"jsonrpc":"2.0","method":"_last"}`)
	s.has("_last")
}

// A request that is given up is named by its id of the connection that it is on.
func TestCancelInAChain(t *testing.T) {
	s := newStage(t, "")
	s.begins()
	s.says(promptLine("3", "go"))
	s.reads(sent1(3, acp.SessionPrompt, promptOf("go")))
	s.says(from("4", acp.SessionRequestPermission, permission))
	s.has(`"id":"chain-4","method":"session/request_permission"`)
	cancel := func(id string) string {
		return `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":` + id + `}}`
	}
	for _, nobodys := range []string{"77", "null", "{}", `"4"`} {
		s.says(cancel(nobodys))
	}
	s.says(`{"jsonrpc":"2.0","method":"$/cancel_request"}`)
	s.says(`{"jsonrpc":"2.0","method":"$/cancel_request","params":[4]}`)
	s.says(from("", acp.CancelRequest, `{"requestId":3}`)) // of another hop: ids there are others
	s.noted("about another connection")
	s.says(cancel("4"))
	s.reads(cancel(`"chain-4"`))
	s.says(`{"jsonrpc":"2.0","id":"chain-4","error":{"code":-32800,"message":"cancelled"}}`)
	s.has(`"id":4,`)
	s.says(cancel("3"))
	s.reads(cancel(`"chain-3"`))
	s.says(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`)
	s.reads(`{"jsonrpc":"2.0","method":"proxy/successor","params":{"method":"session/cancel","params":{"sessionId":"s"}}}`)
	s.says(`{"jsonrpc":"2.0","id":"chain-3","result":{"stopReason":"cancelled"}}`)
	s.reads(`{"jsonrpc":"2.0","id":3,"result":{"stopReason":"cancelled"}}`)
}

// An envelope that two programs could read in two ways passes nothing, and nothing in it counts
// as a message to the conductor.
func TestEnvelopesThatPassNothing(t *testing.T) {
	s := newStage(t, "")
	s.begins()
	for params, want := range map[string]string{
		`[]`:                               "no object",
		`null`:                             "no object",
		`{}`:                               "no method",
		`{"method":1}`:                     "no method",
		`{"method":"a","method":"b"}`:      `"method" twice`,
		`{"method":"a","\u006dethod":"b"}`: `"method" twice`,
		`{"method":"a","params":{},"params":{"x":1}}`:                       `"params" twice`,
		`{"method":"a","Method":"b"}`:                                       `some programs take for "method"`,
		`{"method":"a","PARAMS":{}}`:                                        `some programs take for "params"`,
		`{"method":"a","method\u0000x":"b"}`:                                "NUL",
		`{"method":"a\u0000b"}`:                                             "NUL",
		`{"method":"a","params":"x"}`:                                       "not an object",
		`{"method":"a","params":7}`:                                         "not an object",
		`{"method":"proxy/successor","params":{"method":"session/update"}}`: "between a conductor and a proxy",
		`{"method":"_proxy\/initialize","params":{"protocolVersion":1}}`:    "between a conductor and a proxy",
		`{"method":"$/cancel_request","params":{"requestId":2}}`:            "about another connection",
	} {
		s.says(`{"jsonrpc":"2.0","id":5,"method":"proxy/successor","params":` + params + `}`)
		got := s.next()
		if text := jsonspan.Text(jsonspan.Find([]byte(got), "/error/message")); !strings.Contains(text, want) || !strings.Contains(got, `"id":5,`) {
			t.Errorf("%s: %s", params, got)
		}
		s.says(`{"jsonrpc":"2.0","method":"proxy/successor","params":` + params + `}`)
		s.noted(want)
	}
	for line, want := range map[string]string{
		`{"jsonrpc":"2.0","id":5,"method":"_proxy/successor","params":{"method":"x"}}`:                                                                    "no method of the dialect",
		`{"jsonrpc":"2.0","id":5,"method":"proxy/other"}`:                                                                                                 "no method of the dialect",
		`{"jsonrpc":"2.0","id":5,"method":"initialize","params":{"protocolVersion":1}}`:                                                                   "write hookd acp -- AGENT",
		`{"jsonrpc":"2.0","id":5,"method":"initialize","params":{"protocolVersion":1,"_meta":{"proxy":true}}}`:                                            "another dialect",
		`{"jsonrpc":"2.0","id":5,"method":"proxy/successor","method":"x","params":{"method":"session/new"}}`:                                              "twice",
		`{"jsonrpc":"2.0","id":5,"method":"proxy/successor","params":{"method":"session/request_permission","params":{"sessionId":"s","sessionId":"t"}}}`: "a member twice",
		`[{"jsonrpc":"2.0","id":5,"method":"x"}]`:                                                                                                         "batches",
		`{"jsonrpc"`: "not valid JSON",
		`{"jsonrpc":"2.0","id":5,"method":"proxy/successor","params":{"method":"x","params":{"x":"` + strings.Repeat("x", 1<<20) + `"}}}`: "the most is",
	} {
		s.says(line)
		s.has(`"error"`, want)
	}
	s.says(`{"jsonrpc":"2.0","id":5,"method":"_last"}`)
	s.reads(`{"jsonrpc":"2.0","id":"chain-3","method":"proxy/successor","params":{"method":"_last"}}`)
	s.says(`{"jsonrpc":"2.0","id":"chain-3","result":"` + strings.Repeat("x", 2<<20) + `"}`)
	s.has(`"id":5,"error"`, "the answer was left out")
}

// When the conductor closes the connection, hookd ends in time: the client's last words still
// go to the successor, and what waits for an answer is told.
func TestEndOfAChain(t *testing.T) {
	s := newStage(t, "")
	s.begins()
	s.says(promptLine("3", "go"))
	s.reads(sent1(3, acp.SessionPrompt, promptOf("go")))
	s.says(from("4", acp.SessionRequestPermission, permission))
	s.has(`"id":"chain-4"`)
	s.says(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`)
	s.in.Close()
	began, all := time.Now(), ""
	for line := ""; line != "EOF"; all += line + "\n" {
		line = s.next()
	}
	<-s.done
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("it took %v", took)
	}
	for _, want := range []string{`"method":"session/cancel"`, `"id":3,"error":{"code":-32603,"message":"hookd: the agent has ended: the conductor has closed the connection"}`} {
		if !strings.Contains(all, want) {
			t.Errorf("no %s in %s", want, all)
		}
	}
}

// A conductor that reads nothing keeps hookd from ending neither when it closes the connection
// nor when hookd is told to end.
func TestEndOfAChainThatNobodyReads(t *testing.T) {
	for name, end := range map[string]func(s *stage){
		"closed": func(s *stage) { s.in.Close() },
		"told":   func(s *stage) { s.end(proxied.ErrClosed) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, "")
			s.begins()
			for i := range 10 {
				s.says(from(fmt.Sprint(i+10), "_ask", "{}"))
				s.says(promptLine(fmt.Sprint(i+30), "go"))
			}
			began := time.Now()
			end(s)
			select {
			case <-s.done:
			case <-time.After(10 * time.Second):
			}
			if took := time.Since(began); took > 3*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// Requests of the successor that wait for the person do not keep the answers of the person away,
// however many these are.
func TestAnswersPassWhatWaitsForThem(t *testing.T) {
	hook := protocol.GoHook{Name: "h", Events: []protocol.EventName{protocol.ToolCallStart}, OnFailure: protocol.RuleBlock, Func: func(context.Context, *protocol.Event) (protocol.Reply, error) {
		return protocol.Reply{Action: protocol.Ask, Reason: "sure?"}, nil
	}}
	s := newStage(t, "", hook)
	s.begins()
	const count = 300 // more than the proxy reads before it has decided one
	for i := range count {
		s.says(from(fmt.Sprint(i+10), acp.ReadTextFile, fmt.Sprintf(`{"sessionId":"s","path":"/%d"}`, i)))
	}
	passed := 0
	for began := time.Now(); passed < count && time.Since(began) < 20*time.Second; {
		line := []byte(s.next())
		switch id := string(jsonspan.Get(line, "id")); jsonspan.Text(jsonspan.Get(line, "method")) {
		case acp.SessionRequestPermission:
			var once string
			for _, o := range jsonspan.Elements(jsonspan.Find(line, "/params/options")) {
				if jsonspan.Text(jsonspan.Get(o, "kind")) == "allow_once" {
					once = string(jsonspan.Get(o, "optionId"))
				}
			}
			s.says(`{"jsonrpc":"2.0","id":` + id + `,"result":{"outcome":{"outcome":"selected","optionId":` + once + `}}}`)
		case acp.ReadTextFile:
			passed++
			s.says(`{"jsonrpc":"2.0","id":` + id + `,"result":{"content":""}}`)
		}
	}
	if passed != count {
		t.Errorf("%d requests passed", passed)
	}
}

// An answer that could be read as two is answered by an error to the side that has asked.
func TestAnswersOfAConductorThatCannotBeRead(t *testing.T) {
	s := newStage(t, "")
	s.begins()
	for i, answer := range []string{`"result":{},"error":{"code":1,"message":"m"}`, `"result":{},"result":{}`, `"result":{},"Result":{}`} {
		id := i + 3
		s.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"_x/ask"}`, id))
		s.reads(fmt.Sprintf(`{"jsonrpc":"2.0","id":"chain-%d","method":"proxy/successor","params":{"method":"_x/ask"}}`, id))
		s.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":"chain-%d",%s}`, id, answer))
		s.has(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":{"code":-32603,"message":"hookd: the answer was left out: `, id))
	}
	s.says(from("9", "_x/ask", "{}"))
	s.reads(`{"jsonrpc":"2.0","id":"chain-6","method":"_x/ask","params":{}}`)
	s.says(`{"jsonrpc":"2.0","id":"chain-6","result":{},"error":{"code":1,"message":"m"}}`)
	s.has(`{"jsonrpc":"2.0","id":9,"error":{"code":-32603,"message":"hookd: the answer was left out: `)
}
