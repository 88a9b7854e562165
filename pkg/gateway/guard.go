package gateway

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// guard refuses requests that foreign web pages make a browser send: any page that a user visits can reach this machine.
type guard struct {
	open    bool // there are requests without a key: the Host must be this machine
	origins []string
	cross   *http.CrossOriginProtection
}

func newGuard(cfg Config) guard {
	g := guard{open: cfg.Open, origins: cfg.Origins, cross: http.NewCrossOriginProtection()}
	for _, o := range cfg.Origins {
		_ = g.cross.AddTrustedOrigin(o) //nolint:errcheck // Validate has looked
	}
	return g
}

// admit refuses a request of a foreign page or under a foreign name, and answers a preflight request. done reports that
// the request is answered.
func (g guard) admit(w http.ResponseWriter, r *http.Request) (done bool, err error) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if g.open && !isLoopbackHost(r.Host) {
		return false, &refusal{status: http.StatusForbidden, field: "Host", message: "the gateway answers as localhost or 127.0.0.1 alone; other names need users and EUNOE_HTTP_PROXIED, or TLS"}
	}
	origin := r.Header.Get("Origin")
	trusted := slices.Contains(g.origins, origin)
	if origin != "" && !trusted {
		if u, err := url.Parse(origin); err != nil || u.Host != r.Host {
			return false, foreign()
		}
	}
	if trusted {
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Expose-Headers", "Retry-After, Mcp-Session-Id, X-Eunoe-Recalled")
		h.Add("Vary", "Origin")
		if r.Method == http.MethodOptions {
			h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
			h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Idempotency-Key, Last-Event-ID, X-Eunoe-Bank, X-Eunoe-Key, X-Eunoe-Session, X-Eunoe-Speaker, Mcp-Session-Id, Mcp-Protocol-Version, traceparent, tracestate")
			h.Set("Access-Control-Max-Age", "600")
			w.WriteHeader(http.StatusNoContent)
			return true, nil
		}
	}
	if g.cross.Check(r) != nil || !trusted && embedded(r) {
		return false, foreign()
	}
	return false, nil
}

// embedded reports whether a browser asks on behalf of a foreign page without an Origin, as for an image or a frame. The
// page cannot read the answer, but learns whether there is one, and how long it takes. A link to the reference is none.
func embedded(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	link := r.Header.Get("Sec-Fetch-Dest") == "document" && (r.URL.Path == "/docs" || r.URL.Path == "/openapi.json")
	return (site == "cross-site" || site == "same-site") && !link
}

func foreign() error {
	return &refusal{status: http.StatusForbidden, field: "Origin", message: "pages of this origin may not call the gateway; an operator names those that may in EUNOE_HTTP_ORIGINS"}
}

// isLoopbackHost reports whether the value of a Host header names this machine.
func isLoopbackHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
