package gateway

import (
	"encoding/json"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// Route is one path of the gateway.
type Route struct {
	Method, Path string // as a pattern of net/http
	Name         string // unique
	Summary      string
	// Endpoint answers it; nil = the gateway does.
	Endpoint *wire.Description
	// Request and Reply are the bodies. A zero Request means that there is none, a zero Reply a page for people.
	Request, Reply wire.Body
	// Query are the parameters behind the question mark.
	Query []string
	// Streams says that the reply is a stream of server-sent events.
	Streams bool

	file   bool                                                           // the body is a file
	public func(g *Gateway, w http.ResponseWriter, r *http.Request) error // needs no key
	serve  func(g *Gateway, w http.ResponseWriter, r *http.Request, c *caller) error
}

const bankPath = "/v1/banks/{bank}/"

// Routes lists the paths: those of the table of endpoints first.
func Routes() []Route {
	var out []Route
	for _, e := range wire.Endpoints() {
		r := Route{Method: http.MethodPost, Path: bankPath + e.Name, Name: e.Name, Summary: e.Summary, Endpoint: &e, Request: e.Request, Reply: e.Reply, serve: ask(e)}
		if e.Role == wire.Operator {
			r.Path, r.Name = "/v1/admin/"+e.Name, "admin_"+e.Name
		}
		out = append(out, r)
	}
	read := func(name, path string, e wire.Description, query []string, body func(*http.Request) (any, error)) {
		out = append(out, Route{Method: http.MethodGet, Path: bankPath + path, Name: name, Summary: e.Summary, Endpoint: &e, Reply: e.Reply, Query: query, serve: askBy(e, query, body)})
	}
	read("read_status", "status", wire.StatusOf.Describe(), nil, func(*http.Request) (any, error) { return wire.StatusRequest{}, nil })
	read("read_changes", "changes", wire.Changes.Describe(), []string{"after", "limit"}, func(r *http.Request) (any, error) {
		after, err := number(r, "after")
		if err != nil {
			return nil, err
		}
		limit, err := number(r, "limit")
		return wire.ChangesRequest{After: after, Limit: int(min(limit, 1<<31))}, err //nolint:gosec // bounded
	})
	read("read_item", "items/{id}", wire.Get.Describe(), nil, func(r *http.Request) (any, error) { return wire.GetRequest{ID: r.PathValue("id")}, nil })
	read("read_history", "items/{id}/history", wire.History.Describe(), nil, func(r *http.Request) (any, error) { return wire.HistoryRequest{ID: r.PathValue("id")}, nil })
	session := bankPath + "sessions/{session}/"
	return append(out,
		Route{Method: http.MethodPost, Path: session + "messages", Name: "publish", Summary: "Publish a message, or an array of up to 1,000.",
			Request: message, Reply: published, serve: (*Gateway).publish},
		Route{Method: http.MethodPost, Path: session + "flush", Name: "flush", Summary: "Say that a conversation paused or ended.",
			Request: flush, Reply: published, serve: (*Gateway).flush},
		Route{Method: http.MethodGet, Path: bankPath + "events", Name: "events", Summary: "Follow change events as they are committed.",
			Reply: change, Query: []string{"after"}, Streams: true, serve: (*Gateway).events},
		Route{Method: http.MethodGet, Path: "/v1/self", Name: "self", Summary: "Say who the key is.", Reply: self, serve: (*Gateway).self},
		Route{Method: http.MethodGet, Path: "/openapi.json", Name: "openapi", Summary: "This document.", Reply: document, public: (*Gateway).openapi},
		Route{Method: http.MethodGet, Path: "/docs", Name: "docs", Summary: "All paths, on a page.", public: (*Gateway).reference},
		Route{Method: http.MethodGet, Path: "/health/live", Name: "live", Summary: "200 while the gateway runs.", Reply: health, public: (*Gateway).live},
		Route{Method: http.MethodGet, Path: "/health/ready", Name: "ready", Summary: "200 while the broker answers.", Reply: health, public: (*Gateway).ready},
	)
}

// number reads a parameter that is a whole number; 0 where it is absent.
func number(r *http.Request, name string) (uint64, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, memory.Invalid(name, "%.40q is no whole number from 0 on", text)
	}
	return n, nil
}

// known returns why a request has no route: its path or its method.
func (g *Gateway) known(r *http.Request) error {
	escaped := r.URL.EscapedPath()
	if _, pattern := g.mux.Handler(r); pattern != "" && path.Clean(escaped) == escaped {
		return nil
	}
	var allowed []string
	for _, m := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		other := *r
		other.Method = m
		if _, pattern := g.mux.Handler(&other); pattern != "" && path.Clean(escaped) == escaped {
			allowed = append(allowed, m)
		}
	}
	if len(allowed) > 0 {
		return &refusal{status: http.StatusMethodNotAllowed, allow: allowed, message: r.Method + " is not for this path; expected " + strings.Join(allowed, " or ")}
	}
	if rest, ok := strings.CutPrefix(escaped, "/v1/banks/"); ok && strings.Count(rest, "/") == 1 {
		return &refusal{status: http.StatusNotFound, message: "there is no such endpoint of a bank; expected one of " + strings.Join(names(wire.Bot), ", ")}
	}
	if escaped == "/mcp" {
		return &refusal{status: http.StatusNotFound, message: "name the bank whose tools are meant; expected /mcp/{bank}"}
	}
	if strings.HasPrefix(escaped, "/v1/admin/") {
		return &refusal{status: http.StatusNotFound, message: "there is no such endpoint of operators; expected one of " + strings.Join(names(wire.Operator), ", ")}
	}
	return &refusal{status: http.StatusNotFound, message: "there is no such path; /openapi.json lists them, as POST /v1/banks/{bank}/recall"}
}

func names(role wire.Role) []string {
	var out []string
	for _, e := range wire.Endpoints() {
		if e.Role == role {
			out = append(out, e.Name)
		}
	}
	return out
}

// checkQuery refuses parameters that a route does not have.
func checkQuery(r *http.Request, known []string) error {
	for name := range r.URL.Query() {
		if slices.Contains(known, name) {
			continue
		}
		if len(known) == 0 {
			return memory.Invalid(name, "unknown parameter; this path has none")
		}
		return memory.Invalid(name, "unknown parameter; expected %s", strings.Join(known, ", "))
	}
	return nil
}

// encode returns a value as JSON that was made here and cannot fail to encode.
func encode(v any) []byte {
	b, err := memory.Encode(v)
	if err != nil {
		b, _ = json.Marshal(wire.FaultOf(err)) //nolint:errcheck // strings and numbers
	}
	return b
}
