package access_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/eunoe-memory/eunoe/internal/access"
	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/gateway"
	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/internal/app/settings"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
)

// browser makes requests to a gateway, with headers that may be wrong.
type browser struct {
	t    *testing.T
	base string
	http *http.Client
}

func browse(t *testing.T, base string) *browser {
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	return &browser{t: t, base: base, http: &http.Client{Transport: tr}}
}

// send returns the status and the body of an answer. headers are name, value pairs; Host is one of them.
func (b *browser) send(method, path, body string, headers ...string) (int, string) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.base+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := b.http.Do(r)
	if err != nil {
		b.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// bearer returns the header of a user's key.
func (w *deployment) bearer(t *testing.T, name string) []string {
	t.Helper()
	seed, err := os.ReadFile(w.seed(name))
	if err != nil {
		t.Fatal(err)
	}
	return []string{"Authorization", "Bearer " + strings.TrimSpace(string(seed))}
}

func TestByHTTPAKeyHasItsBankAndNothingElse(t *testing.T) {
	t.Parallel()
	w := &deployment{conf: quietSettings(t, map[string]string{"HTTP": "127.0.0.1:0"})}
	w.auth = w.conf.AuthDirectory()
	if _, err := access.Init(w.auth, w.naming); err != nil {
		t.Fatal(err)
	}
	w.standard(t)
	l := apptest.Start(t, w.conf, gateway.Stage())
	w.url = l.URL
	w.login(t, "alice").remember("alice", "I am allergic to shellfish.")
	w.login(t, "bob").remember("bob", "My password manager is called Quetzal.")
	b, alice, operator := browse(t, l.Gateway), w.bearer(t, "alice"), w.bearer(t, "operator")
	get := func(method, path, body string, headers ...string) (int, string) {
		return b.send(method, path, body, append(append([]string{}, alice...), headers...)...)
	}
	if code, text := get("POST", "/v1/banks/alice/recall", `{"query":"allergic"}`); code != 200 || !strings.Contains(text, "shellfish") {
		t.Fatalf("of its own bank: %d %s", code, text)
	}
	if code, text := b.send("POST", "/v1/admin/banks", "{}", operator...); code != 200 || !strings.Contains(text, `"bob"`) {
		t.Fatalf("an operator: %d %s", code, text)
	}
	for _, path := range []string{
		"/v1/banks/bob/recall", "/v1/banks/b%6Fb/recall", "/v1/banks/%62%6F%62/recall", "/v1/banks/alice/../bob/recall", "/v1/banks/alice%2F..%2Fbob/recall",
		"/v1/banks/alice/..%2Fbob%2Frecall", "/v1/banks/bob%00/recall", "/v1/banks/*/recall", "/v1/banks/%3E/recall", "/v1/banks/alice.recall%20x/recall", "/v1/banks/bob.recall/recall",
		"/v1/banks/admin/banks", "/v1/banks/Bob/recall", "/v1/banks/%EF%BC%A2ob/recall", "/v1//banks/bob/recall", "/v1/banks/bob;alice/recall",
		"/v1/banks/bob/forget", "/v1/banks/bob/sessions/chat/messages", "/v1/banks/bob/sessions/chat/flush", "/v1/banks/bob/reflect",
		"/v1/admin/banks", "/v1/admin/erase", "/v1/admin/dead", "/v1/admin/verify",
	} {
		for _, body := range []string{`{"query":"Quetzal"}`, `{"content":"planted","query":"Quetzal","stream":true}`} {
			code, text := get("POST", path, body, "X-Eunoe-Bank", "bob", "X-Forwarded-For", "127.0.0.1", "X-Original-URL", "/v1/banks/bob/recall", "X-HTTP-Method-Override", "GET", "Reply-To", "mem.bob.message.planted")
			if code < 400 || code >= 500 || strings.Contains(text, "is called Quetzal") {
				t.Errorf("%s: %d %s", path, code, text)
			}
		}
	}
	for _, path := range []string{"/v1/banks/bob/status", "/v1/banks/bob/changes", "/v1/banks/bob/events", "/v1/banks/bob/items/said-x", "/v1/banks/bob/items/x/history"} {
		if code, text := get("GET", path, ""); code != http.StatusForbidden {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
	for name, headers := range map[string][]string{
		"without a key": nil, "with an empty key": {"Authorization", "Bearer "}, "with a word": {"Authorization", "Bearer alice"},
		"with the public key": {"Authorization", "Bearer " + publicKey(t, w, "alice")}, "with a cookie": {"Cookie", "key=" + strings.Fields(alice[1])[1]},
		"with the key as a password": {"Authorization", "Basic " + strings.Fields(alice[1])[1]},
	} {
		for _, path := range []string{"/v1/self", "/v1/banks/alice/status"} {
			if code, text := b.send("GET", path, "", headers...); code != http.StatusUnauthorized {
				t.Errorf("%s: %d %s", name, code, text)
			}
		}
	}
	if code, text := get("GET", "/v1/banks/alice/status?key=x", ""); code != 400 {
		t.Errorf("a key in the address: %d %s", code, text)
	}
	if s := w.login(t, "bob").settle("bob"); s.Conservation.Published != 1 {
		t.Errorf("bob's bank holds %+v", s.Conservation)
	}
	t.Run("a key that is removed is refused at once, while its stream is open", func(t *testing.T) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, l.Gateway+"/v1/banks/alice/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set(alice[0], alice[1])
		resp, err := b.http.Do(r)
		if err != nil || resp.StatusCode != 200 {
			t.Fatalf("the stream: %v, %v", resp, err)
		}
		defer resp.Body.Close()
		if _, err := access.Remove(w.auth, w.naming, "alice"); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Logf("the stream ended with %v", err)
		}
		natstest.Eventually(t, "the key is refused", func() bool {
			code, _ := get("GET", "/v1/banks/alice/status", "")
			return code == http.StatusUnauthorized
		})
	})
}

// publicKey returns what everybody may know of a user.
func publicKey(t *testing.T, w *deployment, name string) string {
	t.Helper()
	r, err := access.Read(w.auth)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range r.Users {
		if u.Name == name {
			return u.Key
		}
	}
	t.Fatalf("there is no %s", name)
	return ""
}

func TestAPageReachesNothingOfThisMachine(t *testing.T) {
	t.Parallel()
	const app = "https://app.example.org"
	l := apptest.Start(t, quietSettings(t, map[string]string{"HTTP": "127.0.0.1:0", "HTTP_ORIGINS": app}), gateway.Stage())
	b := browse(t, l.Gateway)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(l.Gateway, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	const path = "/v1/banks/ann/sessions/s/messages"
	for name, c := range map[string]struct {
		headers []string
		status  int
	}{
		"a program":                           {nil, 200},
		"localhost":                           {[]string{"Host", "localhost:" + port}, 200},
		"the loopback of version 6":           {[]string{"Host", "[::1]:" + port}, 200},
		"a page of its own":                   {[]string{"Origin", l.Gateway, "Sec-Fetch-Site", "same-origin"}, 200},
		"a page that is named":                {[]string{"Origin", app, "Sec-Fetch-Site", "cross-site"}, 200},
		"a name that was bound to 127.0.0.1":  {[]string{"Host", "evil.example:" + port}, 403},
		"a rebound page":                      {[]string{"Host", "evil.example:" + port, "Origin", "http://evil.example:" + port, "Sec-Fetch-Site", "same-origin"}, 403},
		"a name that looks like this machine": {[]string{"Host", "localhost.evil.example"}, 403},
		"an address beyond":                   {[]string{"Host", "192.168.1.7:" + port}, 403},
		"a foreign page":                      {[]string{"Origin", "https://evil.example"}, 403},
		"a foreign page without its origin":   {[]string{"Sec-Fetch-Site", "cross-site"}, 403},
		"a page in a sandbox":                 {[]string{"Origin", "null"}, 403},
		"a page of another port":              {[]string{"Origin", "http://127.0.0.1:1", "Sec-Fetch-Site", "same-site"}, 403},
		"a page whose name begins alike":      {[]string{"Origin", app + ".evil.example"}, 403},
		"a form":                              {[]string{"Content-Type", "text/plain", "Origin", "https://evil.example"}, 403},
		"a form without an origin":            {[]string{"Content-Type", "text/plain"}, 415},
	} {
		if code, text := b.send("POST", path, `{"content":"From `+name+`."}`, c.headers...); code != c.status {
			t.Errorf("%s: %d %s", name, code, text)
		}
	}
	t.Run("a preflight is answered for pages that are named alone", func(t *testing.T) {
		for origin, want := range map[string]int{app: http.StatusNoContent, "https://evil.example": http.StatusForbidden} {
			if code, _ := b.send("OPTIONS", path, "", "Origin", origin, "Access-Control-Request-Method", "POST"); code != want {
				t.Errorf("%s: %d", origin, code)
			}
		}
	})
}

func TestASlowBodyHoldsNothingUp(t *testing.T) {
	t.Parallel()
	l := apptest.Start(t, quietSettings(t, map[string]string{"HTTP": "127.0.0.1:0"}), gateway.Stage())
	var d net.Dialer
	for range 200 {
		conn, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(l.Gateway, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, "POST /v1/banks/ann/recall HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"); err != nil {
			t.Fatal(err)
		}
	}
	if code, text := browse(t, l.Gateway).send("POST", "/v1/banks/ann/sessions/s/messages", `{"content":"x"}`); code != 200 {
		t.Errorf("beside 200 slow bodies: %d %s", code, text)
	}
	t.Run("a header that does not end is cut off", func(t *testing.T) {
		conn, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(l.Gateway, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, "GET /v1/self HTTP/1.1\r\nHost: localhost\r\nX-Slow: "); err != nil {
			t.Fatal(err)
		}
		if err := conn.SetReadDeadline(time.Now().Add(natstest.Patience)); err != nil {
			t.Fatal(err)
		}
		if _, err := bufio.NewReader(conn).ReadString(0); err != io.EOF { //nolint:errorlint // the plain end
			t.Errorf("it ended with %v", err)
		}
	})
}

func TestTheGatewayListensBeyondThisMachineOnlyIfItProtects(t *testing.T) {
	t.Parallel()
	w := embedded(t, nil)
	dir := t.TempDir()
	cert, key := newAuthority(t, dir).sign(t, dir, "gateway")
	for name, c := range map[string]struct {
		users bool
		set   map[string]string
		says  string // "" = it starts
	}{
		"neither TLS nor users":     {false, nil, "EUNOE_HTTP_CERT"},
		"TLS without users":         {false, map[string]string{"HTTP_CERT": cert, "HTTP_KEY": key}, "eunoe auth init"},
		"a proxy without users":     {false, map[string]string{"HTTP_PROXIED": "true"}, "eunoe auth init"},
		"users without TLS":         {true, nil, "EUNOE_HTTP_CERT"},
		"users and TLS":             {true, map[string]string{"HTTP_CERT": cert, "HTTP_KEY": key}, ""},
		"users and a proxy":         {true, map[string]string{"HTTP_PROXIED": "true"}, ""},
		"a proxy on this machine":   {true, map[string]string{"HTTP_PROXIED": "true", "HTTP": "127.0.0.1:0"}, ""},
		"the same, without users":   {false, map[string]string{"HTTP_PROXIED": "true", "HTTP": "127.0.0.1:0"}, "eunoe auth init"},
		"an address that is in use": {false, map[string]string{"HTTP": strings.TrimPrefix(w.url, "nats://")}, "--http"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := map[string]string{"HTTP": "0.0.0.0:0"}
			for k, v := range c.set {
				set[k] = v
			}
			conf := quietSettings(t, set)
			if c.users {
				if _, err := access.Init(conf.AuthDirectory(), w.naming); err != nil {
					t.Fatal(err)
				}
			}
			l, err := local.Start(t.Context(), conf, io.Discard, gateway.Stage())
			if err == nil {
				defer l.Close(context.Background())
			}
			switch {
			case c.says == "" && err != nil:
				t.Fatal(err)
			case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
				t.Fatalf("started with %v", err)
			case c.says != "" || strings.HasPrefix(l.Gateway, "https"):
				return
			}
			address := strings.Replace(l.Gateway, "[::]", "127.0.0.1", 1)
			if code, text := browse(t, address).send("GET", "/v1/self", "", "Host", "memory.example.org"); code != http.StatusUnauthorized {
				t.Errorf("without a key: %d %s", code, text)
			}
		})
	}
	if _, _, err := settings.Load([]string{"EUNOE_HTTP="}, nil); err != nil {
		t.Errorf("an empty address is none: %v", err)
	}
}
