package events

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// TLS names the files of an encrypted connection. With the zero value the URL decides: tls:// uses the certificate
// authorities of the system.
type TLS struct {
	CA        string // certificate authorities to trust; "" = those of the system
	Cert, Key string // client certificate, if the server asks for one; both or neither
}

// Validate reports what is missing, cannot be read or is no certificate. The error is memory.ErrInvalid and names the field.
func (t TLS) Validate() error {
	if (t.Cert == "") != (t.Key == "") {
		return memory.Invalid("tls", "a certificate and its key go together; one is missing")
	}
	for _, f := range []struct{ field, path string }{{"tls_ca", t.CA}, {"tls_cert", t.Cert}, {"tls_key", t.Key}} {
		if f.path == "" {
			continue
		}
		text, err := os.ReadFile(f.path)
		if err != nil {
			return memory.Invalid(f.field, "cannot be read: %v", err)
		}
		if f.path == t.CA && !x509.NewCertPool().AppendCertsFromPEM(text) {
			return memory.Invalid(f.field, "%s holds no certificate of an authority", f.path)
		}
	}
	if t.Cert != "" {
		if _, err := tls.LoadX509KeyPair(t.Cert, t.Key); err != nil {
			return memory.Invalid("tls_cert", "%s and the key %s: %v", t.Cert, t.Key, err)
		}
	}
	return nil
}

// options returns the connection options after checking the files.
func (t TLS) options() ([]nats.Option, error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	var opts []nats.Option
	if t.CA != "" {
		opts = append(opts, nats.RootCAs(t.CA))
	}
	if t.Cert != "" {
		opts = append(opts, nats.ClientCert(t.Cert, t.Key))
	}
	return opts, nil
}

// credentials reads either NATS credentials (a JWT with its seed, as nsc writes .creds files) or the seed of an nkey
// alone, as `eunoe auth` writes it. The error names the file and reveals nothing of its content.
func credentials(path string) (nats.Option, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, memory.Invalid("creds", "cannot be read: %v", err)
	}
	defer clear(text)
	if bytes.Contains(text, []byte("BEGIN NATS USER JWT")) {
		return nats.UserCredentials(path), nil
	}
	opt, err := nats.NkeyOptionFromSeed(path)
	if err != nil {
		return nil, memory.Invalid("creds", "%s holds neither NATS credentials (.creds) nor the seed of a user's nkey", path)
	}
	return opt, nil
}

// refused adds to the error of a connection that the broker rejected what the operator can do about it. It returns any
// other error unchanged.
func (c ConnConfig) refused(err error) error {
	var untrusted *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	var alert *net.OpError
	switch {
	case errors.Is(err, nats.ErrAuthorization) && c.Creds == "":
		return fmt.Errorf("it asks for credentials: name their file in EUNOE_CREDS (--creds); an operator makes them with `eunoe auth`: %w: %w", memory.ErrForbidden, err)
	case errors.Is(err, nats.ErrAuthorization):
		return fmt.Errorf("it does not know the credentials in %s: they were removed, or are of another broker (`eunoe auth list` shows whose there are): %w: %w", c.Creds, memory.ErrForbidden, err)
	case errors.Is(err, nats.ErrSecureConnWanted):
		return fmt.Errorf("it does not speak TLS: %w: %w", memory.ErrInvalid, err)
	case errors.As(err, &untrusted) && !errors.As(err, &unknown):
		return fmt.Errorf("its certificate does not hold, whoever signed it: %w: %w", memory.ErrInvalid, err)
	case errors.As(err, &alert) && alert.Op == "remote error": // as crypto/tls calls what the other side says
		return fmt.Errorf("it does not accept this program's certificate, or asks for one: name one that its authority signed, with its key, in EUNOE_TLS_CERT and EUNOE_TLS_KEY: %w: %w", memory.ErrForbidden, err)
	case errors.As(err, &untrusted):
		return fmt.Errorf("its certificate is not trusted; name the file of the authority that signed it in EUNOE_TLS_CA: %w: %w", memory.ErrInvalid, err)
	case errors.Is(err, nats.ErrNkeysNotSupported):
		return fmt.Errorf("it has no users and is open to this machine: leave EUNOE_CREDS (--creds) away, or run `eunoe auth init` where it runs and start it anew: %w: %w", memory.ErrInvalid, err)
	}
	return err
}

// RedactURL removes user and password from URLs, separated by commas, that are to be displayed.
func RedactURL(addresses string) string {
	parts := strings.Split(addresses, ",")
	for i, p := range parts {
		u, err := url.Parse(strings.TrimSpace(p))
		switch {
		case err != nil:
			parts[i] = "(an address that cannot be read)"
		case u.User != nil:
			u.User = nil
			parts[i] = u.String()
		}
	}
	return strings.Join(parts, ",")
}
