package gateway

import (
	"bytes"
	"encoding/json"
	"html/template"
	"net/http"
	"time"

	"github.com/eunoe-memory/eunoe/docs"
)

// openapi serves the OpenAPI document.
func (g *Gateway) openapi(w http.ResponseWriter, _ *http.Request) error {
	write(w, http.StatusOK, docs.OpenAPI)
	return nil
}

// reference serves a page of all paths with examples. It needs nothing from elsewhere, and runs no script.
func (g *Gateway) reference(w http.ResponseWriter, _ *http.Request) error {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeWithin)) //nolint:errcheck // a recorder has none
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	_, _ = w.Write(g.page) //nolint:errcheck // the reader may be gone
	return nil
}

// referencePage makes the page from the routes.
func referencePage(routes []Route) ([]byte, error) {
	t, err := template.New("reference").Funcs(template.FuncMap{"json": func(v any) (string, error) {
		var out bytes.Buffer
		err := json.Indent(&out, encode(v), "", "  ")
		return out.String(), err
	}}).Parse(referenceText)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.Execute(&out, routes)
	return out.Bytes(), err
}

const referenceText = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Eunoe over HTTP</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}
code,pre{font:14px/1.4 ui-monospace,monospace}pre{overflow:auto;padding:.7rem;border:1px solid #8886;border-radius:6px}
summary{cursor:pointer;padding:.3rem 0}</style>
<h1>Eunoe over HTTP</h1>
<p>For programs: <a href="/openapi.json">/openapi.json</a>. Bodies are JSON (<code>Content-Type: application/json</code>);
a deployment with users wants <code>Authorization: Bearer SU…</code>. An error is
<code>{"error":{"code","message","field"}}</code>.</p>
{{range .}}<details id="{{.Name}}"><summary><code>{{.Method}} {{.Path}}</code> {{.Summary}}</summary>
{{if .Query}}<p>Parameters: {{range .Query}}<code>{{.}}</code> {{end}}</p>{{end}}
{{if .Request.Type}}<p>Request</p><pre>{{json .Request.Example}}</pre>{{end}}
{{if .Streams}}<p>Server-sent events</p>{{else if .Reply.Type}}<p>Reply</p><pre>{{json .Reply.Example}}</pre>{{end}}
</details>
{{end}}</html>
`
