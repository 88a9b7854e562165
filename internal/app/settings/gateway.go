package settings

import (
	"crypto/tls"
	"net"
	"net/url"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/provider"
)

// Off is the value of HTTP that opens no gateway.
const Off = "off"

// GatewaySettings say where the gateway answers HTTP, and to whom.
type GatewaySettings struct {
	HTTP        string   `env:"HTTP" envDefault:"127.0.0.1:8420" doc:"address of the HTTP gateway; off or empty is none. Beyond this machine it wants users and TLS"`
	HTTPCert    string   `env:"HTTP_CERT" doc:"file of the gateway's certificate"`
	HTTPKey     string   `env:"HTTP_KEY" doc:"file of the certificate's key"`
	HTTPProxied bool     `env:"HTTP_PROXIED" envDefault:"false" doc:"a proxy that ends TLS is in front of the gateway: every request needs a key, any Host is answered"`
	HTTPOrigins []string `env:"HTTP_ORIGINS" doc:"origins of pages that may call the gateway (https://app.example.org), comma separated; empty is none but its own"`
	HTTPRate    int      `env:"HTTP_RATE" envDefault:"1000" doc:"requests a second of one key; more are refused with 429. 0 is without bound"`

	ChatUpstream string        `env:"CHAT_UPSTREAM" doc:"endpoint of OpenAI's protocol behind the chat proxy (https://api.openai.com/v1); empty is none, and no proxy"`
	ChatKey      provider.Key  `env:"CHAT_KEY" doc:"key of that endpoint, for callers who bring none"`
	ChatPatience time.Duration `env:"CHAT_PATIENCE" envDefault:"300ms" doc:"how long memory may hold up a request of the chat proxy; then it goes on without"`
}

func (s GatewaySettings) check(wrong func(name, format string, args ...any)) {
	if _, _, err := net.SplitHostPort(s.HTTP); err != nil && s.HTTP != Off {
		wrong("HTTP", "%q is not host:port, and not off", s.HTTP)
	}
	if (s.HTTPCert == "") != (s.HTTPKey == "") {
		wrong("HTTP_CERT", "and %sHTTP_KEY go together; one is missing", Prefix)
	} else if s.HTTPCert != "" {
		if _, err := tls.LoadX509KeyPair(s.HTTPCert, s.HTTPKey); err != nil {
			wrong("HTTP_CERT", "with %sHTTP_KEY: %v", Prefix, err)
		}
	}
	for _, o := range s.HTTPOrigins {
		if u, err := url.Parse(o); err != nil || u.Scheme == "" || u.Host == "" || o != u.Scheme+"://"+u.Host {
			wrong("HTTP_ORIGINS", "%q is no origin; expected one like https://app.example.org", o)
		}
	}
	if u, err := url.Parse(s.ChatUpstream); s.ChatUpstream != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil) {
		wrong("CHAT_UPSTREAM", "is no address without credentials; expected one like https://api.openai.com/v1")
	}
	if s.ChatPatience <= 0 {
		wrong("CHAT_PATIENCE", "%s must be more than 0", s.ChatPatience)
	}
	if s.HTTPRate < 0 {
		wrong("HTTP_RATE", "%d must not be negative", s.HTTPRate)
	}
}
