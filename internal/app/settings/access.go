package settings

import (
	"crypto/tls"
	"errors"
	"net"
	"path/filepath"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// AccessSettings say who may connect, and how.
type AccessSettings struct {
	AuthDir string `env:"AUTH_DIR" doc:"directory of the users (eunoe auth); default auth in the data directory"`
	Listen  string `env:"LISTEN" envDefault:"127.0.0.1" doc:"address the embedded NATS server listens on; beyond this machine it wants users"`
	Inbox   string `env:"INBOX" doc:"inbox prefix of replies, where the permissions ask for one (_INBOX_alice)"`
	TLSCert string `env:"TLS_CERT" doc:"file of the certificate: of the embedded server, or of who connects"`
	TLSKey  string `env:"TLS_KEY" doc:"file of the certificate's key"`
	TLSCA   string `env:"TLS_CA" doc:"file of authorities: who connects trusts them; the embedded server asks for certificates that they signed"`
}

func (s AccessSettings) check(wrong func(name, format string, args ...any)) {
	if s.Listen != "localhost" && net.ParseIP(s.Listen) == nil {
		wrong("LISTEN", "%q is no IP address; expected one like 127.0.0.1, 0.0.0.0 or ::", s.Listen)
	}
	if strings.ContainsAny(s.Inbox, "*> \t\r\n") || strings.HasSuffix(s.Inbox, ".") {
		wrong("INBOX", "%q is no beginning of a subject; expected one like _INBOX_alice", s.Inbox)
	}
	switch {
	case (s.TLSCert == "") != (s.TLSKey == ""):
		wrong("TLS_CERT", "and %sTLS_KEY go together; one is missing", Prefix)
	case s.TLSCert != "":
		if _, err := tls.LoadX509KeyPair(s.TLSCert, s.TLSKey); err != nil {
			wrong("TLS_CERT", "with %sTLS_KEY: %v", Prefix, err)
		}
	}
	var field *memory.FieldError
	if err := (events.TLS{CA: s.TLSCA}).Validate(); errors.As(err, &field) {
		wrong("TLS_CA", "%s", field.Message)
	}
}

// TLS returns the files that a connection of this program uses.
func (s AccessSettings) TLS() events.TLS {
	return events.TLS{CA: s.TLSCA, Cert: s.TLSCert, Key: s.TLSKey}
}

// AuthDirectory returns the directory in which the users of the embedded server are kept.
func (c Config) AuthDirectory() string {
	if c.AuthDir != "" {
		return c.AuthDir
	}
	return filepath.Join(c.Data, "auth")
}
