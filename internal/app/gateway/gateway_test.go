package gateway_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/gateway"
	"github.com/eunoe-memory/eunoe/internal/app/process"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAGatewayOfItsOwnNeedsTheBrokerAlone(t *testing.T) {
	t.Parallel()
	server := natstest.StartServer(t)
	c := apptest.Settings(t, map[string]string{"URL": server.ClientURL(), "HTTP": "127.0.0.1:0", "LOG": "fatal"})
	p, err := process.New(c, process.NewLogger(t.Output(), "fatal"), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	started, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- p.Run(ctx, []process.Stage{gateway.Stage()}, func(string) { close(started) }) }()
	select {
	case <-started:
	case err := <-ended:
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	for path, want := range map[string]int{"/health/live": 200, "/health/ready": 200, "/v1/self": 200, "/v1/banks/ann/status": 503} {
		if code, text := apptest.Get(t, p.Gateway+path); code != want {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
	if code, text := apptest.Get(t, "http://"+p.HTTP+"/readyz"); code != 200 {
		t.Errorf("/readyz: %d %s", code, text)
	}
	unreadable(t, p.Gateway)
	server.Shutdown()
	for path, want := range map[string]int{"/health/live": 200, "/health/ready": 503, "/v1/self": 503} {
		natstest.Eventually(t, path+" knows that the broker is gone", func() bool {
			code, _ := apptest.Get(t, p.Gateway+path)
			return code == want
		})
	}
	server.Restart(t)
	natstest.Eventually(t, "it answers again", func() bool {
		code, _ := apptest.Get(t, p.Gateway+"/v1/self")
		return code == 200
	})
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// unreadable sends what is no HTTP request: each is refused as the contract says of all that is refused.
func unreadable(t *testing.T, gateway string) {
	host := strings.TrimPrefix(gateway, "http://")
	for sent, want := range map[string]int{
		"GET /v1/banks/%zz/status HTTP/1.1\r\nHost: " + host + "\r\n\r\n":                                      http.StatusBadRequest,
		"GET /v1/self HTTP/1.1\r\nno colon\r\n\r\n":                                                            http.StatusBadRequest,
		"GET /v1/self HTTP/1.1\r\n\r\n":                                                                        http.StatusBadRequest,
		"hello\r\n\r\n":                                                                                        http.StatusBadRequest,
		"POST /v1/self HTTP/1.1\r\nHost: " + host + "\r\nTransfer-Encoding: cargo\r\n\r\n":                     http.StatusNotImplemented,
		"GET /v1/self HTTP/1.1\r\nHost: " + host + "\r\nX: " + strings.Repeat("x", 100<<10) + "\r\n\r\n":       http.StatusRequestHeaderFieldsTooLarge,
		"GET /v1/self HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\nAccept: application/json\r\n\r\n": http.StatusOK,
	} {
		var dialer net.Dialer
		conn, err := dialer.DialContext(t.Context(), "tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(conn.SetDeadline(time.Now().Add(10*time.Second)), second(conn.Write([]byte(sent)))); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%.60q: %v", sent, err)
		}
		var f wire.Fault
		err = json.NewDecoder(resp.Body).Decode(&f)
		if resp.StatusCode != want || err != nil || want != http.StatusOK && (f.Error.Code != want || f.Error.Message == "") {
			t.Errorf("%.60q: %d %+v, %v; want %d", sent, resp.StatusCode, f, err, want)
		}
		if err := errors.Join(resp.Body.Close(), conn.Close()); err != nil {
			t.Error(err)
		}
	}
}

func second(_ int, err error) error { return err }
