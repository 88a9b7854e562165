package gateway_test

import (
	"context"
	"net/http"
	"testing"

	"go.uber.org/goleak"

	"github.com/eunoe-memory/eunoe/internal/app/apptest"
	"github.com/eunoe-memory/eunoe/internal/app/gateway"
	"github.com/eunoe-memory/eunoe/internal/app/process"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
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
