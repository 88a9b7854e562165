package asyncapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/eunoe-memory/eunoe/pkg/gateway"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// failures are the statuses of an error that every path may answer.
var failures = []struct {
	status int
	means  string
}{
	{400, "The request is wrong; field names where."}, {401, "No key, or one that the broker does not know."}, {403, "Not allowed to this key, or to this page."},
	{404, "No such bank or record."}, {409, "The target changed or exists already."}, {413, "Too large."}, {415, "The body is not JSON."},
	{429, "Over quota, or too many requests; Retry-After says when."}, {500, "An error of the server."},
	{503, "A needed part is down; Retry-After says when."}, {504, "The outcome is not known in time; repeat with the op."},
}

// OpenAPI returns docs/openapi.json: the paths of the gateway as an OpenAPI 3.1 document, with the schemas of the AsyncAPI
// document. Equal sources give equal bytes.
func OpenAPI(src Source) ([]byte, error) {
	s := newSchemas(src)
	open, asked := map[string]bool{}, map[string]bool{}
	fault := of[wire.Fault]("Fault")
	reach(fault.Type, open)
	s.refer(fault.Type)
	paths := object()
	for _, r := range gateway.Routes() {
		if r.Request.Type != nil && r.Name != "publish" {
			reach(r.Request.Type, asked)
		}
		if r.Reply.Type != nil {
			reach(r.Reply.Type, open)
		}
		o, err := s.route(r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Path, err)
		}
		item := member(paths, r.Path)
		put(item, strings.ToLower(r.Method), o)
	}
	for name := range asked {
		s.closed[name] = !open[name]
	}
	responses := object()
	for _, f := range failures {
		put(responses, fmt.Sprint("E", f.status), object("description", f.means, "content", object("application/json", object("schema", s.refer(fault.Type),
			"example", exampleOf(wire.Fault{Error: wire.FaultDetail{Code: f.status, Message: f.means}})))))
	}
	root := object(
		"openapi", "3.1.0",
		"info", object("title", "Eunoe", "version", SchemaVersion, "description", "Memory for chat bots and agents over HTTP. docs/HTTP.md says the same in words.",
			"license", object("name", "Apache-2.0", "identifier", "Apache-2.0")),
		"servers", array(object("url", "http://127.0.0.1:8420")),
		"security", array(object(), object("key", array())),
		"paths", paths,
		"components", object("schemas", s.components(), "responses", responses,
			"securitySchemes", object("key", object("type", "http", "scheme", "bearer", "description", "The seed of a user's key, which `eunoe auth` made (SU…)."))),
	)
	if s.err != nil {
		return nil, s.err
	}
	var value any
	if err := root.Decode(&value); err != nil {
		return nil, fmt.Errorf("encode document: %w", err)
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(value)
	return out.Bytes(), err
}

// route describes one path.
func (s *schemas) route(r gateway.Route) (*yaml.Node, error) {
	o := object("operationId", r.Name, "summary", r.Summary)
	parameters := array()
	for _, m := range placeholder.FindAllStringSubmatch(r.Path, -1) {
		parameters.Content = append(parameters.Content, object("name", m[1], "in", "path", "required", true, "schema", object("type", "string")))
	}
	for _, q := range r.Query {
		parameters.Content = append(parameters.Content, object("name", q, "in", "query", "schema", object("type", "integer", "minimum", 0)))
	}
	if r.Method == http.MethodPost {
		parameters.Content = append(parameters.Content, object("name", "Idempotency-Key", "in", "header", "description", "The op of a write.", "schema", object("type", "string")))
	}
	if len(parameters.Content) > 0 {
		put(o, "parameters", parameters)
	}
	if r.Request.Type != nil {
		schema := s.refer(r.Request.Type)
		if r.Name == "publish" {
			schema = object("oneOf", array(schema, object("type", "array", "items", s.refer(r.Request.Type), "minItems", 1, "maxItems", gateway.MaxMessages)))
		}
		put(o, "requestBody", object("required", true, "content", object("application/json", object("schema", schema, "example", exampleOf(r.Request.Example)))))
	}
	content := object("text/html", object("schema", object("type", "string")))
	if r.Reply.Type != nil {
		content = object("application/json", object("schema", s.refer(r.Reply.Type), "example", exampleOf(r.Reply.Example)))
	}
	events := object("text/event-stream", object("schema", object("type", "string")))
	switch {
	case r.Streams:
		content = events
	case r.Endpoint != nil && r.Endpoint.Streams:
		content.Content = append(content.Content, events.Content...)
	}
	responses := object("200", object("description", "The reply.", "content", content))
	for _, f := range failures {
		put(responses, fmt.Sprint(f.status), ref(fmt.Sprint("components/responses/E", f.status)))
	}
	put(o, "responses", responses)
	return o, s.err
}

// member returns a member of a mapping, which it adds if it is not there.
func member(n *yaml.Node, name string) *yaml.Node {
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i+1]
		}
	}
	m := object()
	put(n, name, m)
	return m
}

// exampleOf returns a value as it stands in JSON.
func exampleOf(v any) *yaml.Node {
	b, err := memory.Encode(v)
	n := &yaml.Node{}
	if err == nil {
		err = yaml.Unmarshal(b, n)
	}
	if err != nil || len(n.Content) == 0 {
		return object()
	}
	return quoted(n.Content[0])
}

// quoted keeps what JSON has as a string one: YAML would read some as times.
func quoted(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.ScalarNode && n.Style&yaml.DoubleQuotedStyle != 0 {
		n.Tag = "!!str"
	}
	for _, c := range n.Content {
		quoted(c)
	}
	return n
}
