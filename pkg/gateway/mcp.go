package gateway

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/eunoe-memory/eunoe/pkg/mcp"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

const (
	maxServers = 64  // banks that one key has a server ready for
	maxCalls   = 100 // of a batch
)

// agents serves the tools of a bank by streamable HTTP. It keeps no sessions: any gateway answers any request.
func (g *Gateway) agents(w http.ResponseWriter, r *http.Request, c *caller) error {
	h, err := c.agents(mcp.Config{Bank: bank(r), Tools: r.URL.Query().Get("tools"), Version: g.cfg.Version})
	if err != nil {
		return err
	}
	if r.Method == http.MethodPost {
		data, err := body(w, r, maxBody)
		if err != nil {
			return err
		}
		if err := c.admitBatch(data); err != nil {
			return err
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
	}
	h.ServeHTTP(w, r)
	return nil
}

// admitBatch counts the calls of a batch as so many requests. What is no batch, or malformed, counts as one.
func (c *caller) admitBatch(data []byte) error {
	if data = bytes.TrimSpace(data); len(data) == 0 || data[0] != '[' {
		return nil
	}
	var calls [maxCalls + 1]json.RawMessage
	if json.Unmarshal(data, &calls) != nil {
		return nil
	}
	n := len(slices.DeleteFunc(calls[:], func(call json.RawMessage) bool { return call == nil }))
	most := maxCalls
	if c.rate != nil { // more could never be admitted
		most = min(most, c.rate.Burst())
	}
	if n > most {
		return memory.Invalid("", "the batch has more than %d calls; send them in several requests", most)
	}
	return c.admit(max(0, n-1))
}

func (c *caller) agents(cfg mcp.Config) (http.Handler, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	key := struct {
		bank  memory.BankID
		tools string
	}{cfg.Bank, cfg.Tools}
	c.feeds.mu.Lock()
	defer c.feeds.mu.Unlock()
	if h, ok := c.servers[key]; ok {
		return h, nil
	}
	s, err := mcp.New(cfg, c.client)
	if err != nil {
		return nil, err
	}
	if c.servers == nil || len(c.servers) >= maxServers {
		c.servers = map[any]http.Handler{}
	}
	// The guard has looked at Host and Origin.
	h := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s },
		&sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true, DisableLocalhostProtection: true, PropagateRequestCancellation: true})
	c.servers[key] = h
	return h, nil
}
