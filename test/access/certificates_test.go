package access_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/internal/app/gateway"
	"github.com/eunoe-memory/eunoe/internal/app/local"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
)

func TestACertificateThatEndedOrEndsSoonIsWarnedOf(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ca := newAuthority(t, dir)
	for name, c := range map[string]struct {
		until, want string
	}{
		"over":     {"-1m", "has expired"},
		"nearly":   {"72h", "ends soon"},
		"for long": {"2000h", ""},
	} {
		left, err := time.ParseDuration(c.until)
		if err != nil {
			t.Fatal(err)
		}
		cert, key := ca.signChanged(t, dir, strings.ReplaceAll(name, " ", "-"), func(x *x509.Certificate) { x.NotAfter = time.Now().Add(left) })
		for _, setting := range []string{"TLS", "HTTP"} {
			t.Run(setting+" "+name, func(t *testing.T) {
				t.Parallel()
				var log bytes.Buffer
				conf := quietSettings(t, map[string]string{setting + "_CERT": cert, setting + "_KEY": key, "HTTP": "127.0.0.1:0", "LOG": "warn"})
				l, err := local.Start(t.Context(), conf, &log, gateway.Stage())
				if err != nil {
					t.Fatal(err)
				}
				if err := l.Close(context.Background()); err != nil {
					t.Error(err)
				}
				if text := log.String(); c.want == "" && strings.Contains(text, "certificate") ||
					!strings.Contains(text, c.want) || c.want != "" && !strings.Contains(text, `"setting":"EUNOE_`+setting+`_CERT"`) {
					t.Errorf("the log says %q, expected %q", text, c.want)
				}
			})
		}
	}
}

func TestARenewedCertificateIsTakenWithoutARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ca := newAuthority(t, dir)
	sign := func(serial int64) (cert, key string) {
		t.Helper()
		return ca.signChanged(t, dir, "own", func(x *x509.Certificate) { x.SerialNumber = big.NewInt(serial) })
	}
	cert, key := sign(7)
	l, err := local.Start(t.Context(), quietSettings(t, map[string]string{
		"HTTP": "127.0.0.1:0", "HTTP_CERT": cert, "HTTP_KEY": key, "TLS_CERT": cert, "TLS_KEY": key,
	}), io.Discard, gateway.Stage())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close(context.Background())
	// serves returns the serial number of the certificate that gateway and broker show, 0 where they differ.
	serves := func() int64 {
		t.Helper()
		nc, err := nats.Connect(l.URL, nats.RootCAs(ca.path))
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		broker, err := nc.TLSConnectionState()
		if err != nil {
			t.Fatal(err)
		}
		roots := x509.NewCertPool()
		roots.AddCert(ca.cert)
		d := tls.Dialer{Config: &tls.Config{RootCAs: roots}}
		conn, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(l.Gateway, "https://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		serial := conn.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber
		if serial.Cmp(broker.PeerCertificates[0].SerialNumber) != 0 {
			return 0
		}
		return serial.Int64()
	}
	if got := serves(); got != 7 {
		t.Fatalf("it begins with certificate %d", got)
	}
	sign(8)
	natstest.Eventually(t, "the new certificate is served", func() bool { return serves() == 8 })
	if err := os.WriteFile(cert, []byte("half a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	looked := time.Now()
	natstest.Eventually(t, "a file that is no certificate leaves the one before", func() bool {
		if got := serves(); got != 8 {
			t.Fatalf("certificate %d is served", got)
		}
		return time.Since(looked) > 2*time.Second // it was looked at meanwhile
	})
	sign(9)
	natstest.Eventually(t, "the next one is served", func() bool { return serves() == 9 })
}
