package gateway

import (
	"net/http"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/eunoe-memory/eunoe/pkg/mcp"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// maxServers is how many banks one key has a server ready for.
const maxServers = 64

// agents serves the tools of a bank by streamable HTTP. It keeps no sessions: any gateway answers any request.
func (g *Gateway) agents(w http.ResponseWriter, r *http.Request, c *caller) error {
	h, err := c.agents(mcp.Config{Bank: bank(r), Tools: r.URL.Query().Get("tools"), Version: g.cfg.Version})
	if err != nil {
		return err
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	h.ServeHTTP(w, r)
	return nil
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
