package mcpcmd

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"
)

// What the address and the headers of a server are made of may be variables that nothing but the
// server has: neither hookd nor its hooks find them in the environment.
func TestSecretsOfAServerAreItsOwn(t *testing.T) {
	got := make(chan *http.Request, 1)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r
		w.WriteHeader(http.StatusAccepted)
	}))
	defer web.Close()
	t.Setenv("HOOKD_SERVER_ENV_WEB", web.URL)
	t.Setenv("HOOKD_SERVER_ENV_KEY", "own")
	t.Setenv("KEY", "ours")
	t.Setenv("OTHER", "other")
	own := takeServersVariables()
	for _, name := range []string{"HOOKD_SERVER_ENV_WEB", "HOOKD_SERVER_ENV_KEY", "WEB"} {
		if _, set := os.LookupEnv(name); set {
			t.Errorf("%s is in the environment of hookd and its hooks", name)
		}
	}
	server, err := reach("${WEB}/mcp", []string{"A: Bearer ${KEY}", "B: ${OTHER} $${KEY}"}, own, nil)
	if err != nil {
		t.Fatal(err)
	}
	process := server.Process()
	if _, err := io.WriteString(process.In, `{"jsonrpc":"2.0","method":"notifications/x"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	r := <-got
	if r.URL.Path != "/mcp" || r.Header.Get("A") != "Bearer own" || r.Header.Get("B") != "other ${KEY}" {
		t.Errorf("%s %q %q", r.URL.Path, r.Header.Get("A"), r.Header.Get("B"))
	}
	process.End(time.Second)
	if _, err := reach("http://x/${NONE}", nil, own, nil); err == nil {
		t.Error("a variable that nobody has is taken for one")
	}
}
