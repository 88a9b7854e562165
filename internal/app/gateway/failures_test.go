package gateway

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

// TestStrangersDoNotFillTheLog sends what is no TLS to a gateway with a certificate.
func TestStrangersDoNotFillTheLog(t *testing.T) {
	t.Parallel()
	said := make(lineWriter, 100)
	lines := zerolog.New(said)
	lender := httptest.NewTLSServer(http.NotFoundHandler()) // of a certificate
	defer lender.Close()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := newServer(http.NotFoundHandler(), lines)
	served := make(chan error, 1)
	go func() {
		served <- server.Serve(tls.NewListener(l, &tls.Config{Certificates: lender.TLS.Certificates, MinVersion: tls.VersionTLS12}))
	}()
	for range 20 {
		c, err := (&net.Dialer{Timeout: time.Minute}).DialContext(context.Background(), "tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
		_, _ = io.Copy(io.Discard, c) // until the gateway hangs up
		_ = c.Close()
	}
	if err := server.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	<-served
	for range 20 {
		if line := <-said; !strings.Contains(line, `"level":"debug"`) {
			t.Errorf("a stranger made the log say %s", line)
		}
	}

	failures(lines).Print("http: panic serving 192.0.2.1:80: nil map")
	if line := <-said; !strings.Contains(line, `"level":"error"`) || !strings.Contains(line, "nil map") {
		t.Errorf("a panic is logged as %s", line)
	}
}

type lineWriter chan string

func (w lineWriter) Write(b []byte) (int, error) {
	w <- string(b)
	return len(b), nil
}
