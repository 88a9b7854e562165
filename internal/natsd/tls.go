package natsd

import (
	"fmt"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/internal/certificate"
)

// TLS names the files of the server's certificate, which are read again when they are renewed; with the zero value
// connections are not encrypted. With CA a client needs a certificate signed by that authority.
type TLS struct{ Cert, Key, CA string }

// apply adds the certificate to the options of a server.
func (t TLS) apply(o *server.Options, log zerolog.Logger) error {
	if t.Cert == "" {
		return nil
	}
	c, err := server.GenTLSConfig(&server.TLSConfigOpts{CertFile: t.Cert, KeyFile: t.Key, CaFile: t.CA, Verify: t.CA != ""})
	if err != nil {
		return fmt.Errorf("nats: certificate %s: %w", t.Cert, err)
	}
	own, err := certificate.Read(t.Cert, t.Key, log)
	if err != nil {
		return fmt.Errorf("nats: certificate %s: %w", t.Cert, err)
	}
	c.Certificates, c.GetCertificate = nil, own.Get // crypto/tls asks for it where there are no others
	o.TLS, o.TLSConfig, o.TLSVerify, o.TLSTimeout = true, c, t.CA != "", 5
	return nil
}
