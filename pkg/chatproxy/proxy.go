package chatproxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/provider/call"
	"github.com/eunoe-memory/eunoe/pkg/query/prompt"
	"github.com/eunoe-memory/eunoe/pkg/text/secret"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

const (
	// answerWithin is how long the endpoint may think before its answer begins.
	answerWithin = 10 * time.Minute
	// readWithin is how long a caller may take to read a piece of an answer.
	readWithin = 30 * time.Second
	maxQuery   = 4000 // bytes of the user's message that are recalled with
)

// unsent are the headers of callers that the upstream does not get. Upgrade would make the connection a tunnel, through which
// a caller reaches whatever else the upstream serves.
var unsent = []string{"Cookie", "Authorization", "Content-Encoding", "Upgrade", "Connection"}

// Config says where requests go.
type Config struct {
	// Upstream is the address that /chat/completions follows, as https://api.openai.com/v1.
	Upstream string
	// Key is what the upstream knows callers by who bring no key of their own; "" = none.
	Key call.Key
	// Patience is how long memory may hold up a request.
	Patience time.Duration
	// Tokens is about how much of memory a request is given.
	Tokens int
}

// Validate reports everything that is wrong with the configuration at once.
func (c Config) Validate() error {
	var errs []error
	if u, err := url.Parse(c.Upstream); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		errs = append(errs, memory.Invalid("upstream", "is no address; expected one like https://api.openai.com/v1"))
	}
	if c.Patience <= 0 {
		errs = append(errs, memory.Invalid("patience", "is %s; expected more than 0", c.Patience))
	}
	if c.Tokens < 1 {
		errs = append(errs, memory.Invalid("tokens", "is %d; expected at least 1", c.Tokens))
	}
	return errors.Join(errs...)
}

// Deps holds the collaborators of a Proxy.
type Deps struct {
	Log zerolog.Logger
}

// Proxy passes chat completions on. It is safe for concurrent use.
type Proxy struct {
	cfg       Config
	log       zerolog.Logger
	upstream  *url.URL
	transport *http.Transport
}

// New returns a Proxy.
func New(cfg Config, deps Deps) (*Proxy, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("chat proxy configuration: %w", err)
	}
	u, err := url.Parse(cfg.Upstream)
	if err != nil {
		return nil, err
	}
	u.Path = strings.TrimRight(u.Path, "/") + "/chat/completions"
	return &Proxy{cfg: cfg, log: deps.Log, upstream: u, transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, DisableCompression: true, ResponseHeaderTimeout: answerWithin,
		MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: 10 * time.Second,
	}}, nil
}

// Close closes the connections to the upstream that nothing uses.
func (p *Proxy) Close() { p.transport.CloseIdleConnections() }

// Memory holds the methods of a client that a Proxy calls.
type Memory interface {
	Recall(context.Context, memory.BankID, wire.RecallRequest) (wire.RecallReply, error)
	Publish(context.Context, memory.BankID, memory.SessionID, memory.Message) (uint64, error)
}

// Call is a request with the identity of its caller.
type Call struct {
	Body    []byte
	Memory  Memory // nil = the memory does not answer
	Bank    memory.BankID
	Session memory.SessionID // "" = the field user, else the first turn
	Speaker string           // who the user is; "" = the name in the message
	Key     string           // of the upstream, as the header Authorization has it; "" = the configured one
	Until   time.Time        // when the memory has held up the request long enough
	// Fail answers where the upstream does not.
	Fail func(http.ResponseWriter, *http.Request, error)
}

// Serve answers a request with what the upstream answers, and calls stored once both turns are kept, or are not going to
// be. A body that is no chat completion is an error that wraps memory.ErrInvalid, and nothing is answered.
func (p *Proxy) Serve(w http.ResponseWriter, r *http.Request, c Call, stored func()) error {
	req, err := parse(c.Body)
	if err != nil {
		stored()
		return err
	}
	if c.Session == "" {
		c.Session = req.session()
	}
	req.identify(c.Session)
	shown := p.recall(r.Context(), c, req)
	text, items := prompt.Remembered(shown, 4*p.cfg.Tokens, secret.Redact)
	body, err := req.with(text)
	if err != nil {
		stored()
		return err
	}
	answered := make(chan string, 1)
	defer close(answered)
	go p.keep(context.WithoutCancel(r.Context()), c, req, len(items) > 0, answered, stored)
	p.pass(body, c, len(items), func(text string) { answered <- text }).ServeHTTP(&paced{w, http.NewResponseController(w)}, r)
	return nil
}

// recall returns what memory holds on the last message of the user, without what the conversation holds itself. It is
// nothing where memory does not answer in time.
func (p *Proxy) recall(ctx context.Context, c Call, req *request) []memory.Item {
	if c.Memory == nil || req.last < 0 {
		return nil
	}
	ctx, cancel := context.WithDeadline(ctx, c.Until)
	defer cancel()
	tokens := 2 * p.cfg.Tokens // some of it the conversation holds
	r, err := c.Memory.Recall(ctx, c.Bank, wire.RecallRequest{Query: memory.Truncate(req.said[req.last].text, maxQuery), MaxTokens: &tokens})
	if err != nil && !errors.Is(err, memory.ErrNotFound) {
		p.log.Warn().Err(err).Str("bank", string(c.Bank)).Msg("a chat goes on without memory")
	}
	var out []memory.Item
	for _, i := range r.Items {
		if !req.holds(i) {
			out = append(out, i)
		}
	}
	return out
}

// keep publishes the last message of the user, and then the answer, where one comes.
func (p *Proxy) keep(ctx context.Context, c Call, req *request, recalled bool, answered <-chan string, stored func()) {
	defer stored()
	publish := func(m memory.Message) {
		if c.Memory == nil {
			return
		}
		if _, err := c.Memory.Publish(ctx, c.Bank, c.Session, m); err != nil {
			p.log.Error().Err(err).Str("bank", string(c.Bank)).Msg("a message of a chat was not kept")
		}
	}
	before := memory.MessageID(c.Session)
	if req.last >= 0 {
		u := req.said[req.last]
		speaker := c.Speaker
		if speaker == "" {
			speaker = u.name
		}
		publish(memory.Message{ID: u.id, Role: memory.RoleUser, Speaker: speaker, Content: u.text})
		before = req.said[len(req.said)-1].id
	}
	if text := <-answered; text != "" {
		publish(memory.Message{ID: after(before, memory.RoleAssistant, text), Role: memory.RoleAssistant, Content: text, Recalled: recalled})
	}
}

// pass returns a handler that asks the upstream and hears its answer.
func (p *Proxy) pass(body []byte, c Call, recalled int, answered func(string)) http.Handler {
	return &httputil.ReverseProxy{
		Transport: p.transport, FlushInterval: -1, ErrorHandler: c.Fail, ErrorLog: log.New(io.Discard, "", 0),
		Rewrite: func(r *httputil.ProxyRequest) {
			u := *p.upstream
			u.RawQuery = strings.Trim(u.RawQuery+"&"+r.In.URL.RawQuery, "&")
			r.Out.URL, r.Out.Host = &u, ""
			for name := range r.Out.Header {
				if strings.HasPrefix(name, "X-Eunoe-") || slices.Contains(unsent, name) {
					delete(r.Out.Header, name)
				}
			}
			if key := c.Key; key != "" {
				r.Out.Header.Set("Authorization", key)
			} else if p.cfg.Key != "" {
				r.Out.Header.Set("Authorization", "Bearer "+string(p.cfg.Key))
			}
			r.Out.Header.Set("Accept-Encoding", "identity") // the answer is read as it passes
			r.Out.Body, r.Out.ContentLength = io.NopCloser(strings.NewReader(string(body))), int64(len(body))
		},
		ModifyResponse: func(resp *http.Response) error {
			for name := range resp.Header {
				if name == "Set-Cookie" || strings.HasPrefix(name, "Access-Control-") {
					delete(resp.Header, name)
				}
			}
			resp.Header.Set("X-Eunoe-Recalled", strconv.Itoa(recalled))
			listen(resp, answered)
			return nil
		},
	}
}

// paced sets a deadline for the caller to read each piece of an answer.
type paced struct {
	http.ResponseWriter
	rc *http.ResponseController
}

// Write implements http.ResponseWriter.
func (p *paced) Write(b []byte) (int, error) {
	_ = p.rc.SetWriteDeadline(time.Now().Add(readWithin)) //nolint:errcheck // a recorder has none
	return p.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (p *paced) Unwrap() http.ResponseWriter { return p.ResponseWriter }
