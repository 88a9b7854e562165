package gateway

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/chatproxy"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// chatRoutes are the paths of the chat proxy. They are no part of the OpenAPI document: their bodies are OpenAI's.
func chatRoutes() []Route {
	return []Route{
		{Method: http.MethodPost, Path: "/v1/chat/completions", Name: "chat", public: (*Gateway).complete},
		{Method: http.MethodPost, Path: bankPath + "chat/completions", Name: "chat_of_bank", public: (*Gateway).complete},
	}
}

// complete forwards a chat completion, with the memory of a bank.
func (g *Gateway) complete(w http.ResponseWriter, r *http.Request) error {
	if g.chat == nil {
		return &refusal{status: http.StatusNotFound, message: "the chat proxy is off; an operator names the endpoint behind it in EUNOE_CHAT_UPSTREAM"}
	}
	if err := mediaType(r); err != nil {
		return err
	}
	own, upstream, err := chatKeys(r)
	if err != nil {
		return err
	}
	if own == "" && !g.cfg.Open {
		return &refusal{status: http.StatusUnauthorized, field: "X-Eunoe-Key", message: "a key of Eunoe is needed (SU…): in the header X-Eunoe-Key, with that of the upstream in Authorization, or in Authorization alone"}
	}
	call := chatproxy.Call{Bank: bank(r), Session: memory.SessionID(r.Header.Get("X-Eunoe-Session")), Speaker: r.Header.Get("X-Eunoe-Speaker"), Key: upstream,
		Fail: func(w http.ResponseWriter, r *http.Request, err error) {
			g.fail(w, r, &refusal{status: http.StatusBadGateway, message: "the endpoint behind the chat proxy (EUNOE_CHAT_UPSTREAM) does not answer: " + err.Error()})
		}}
	if call.Bank == "" {
		call.Bank = memory.BankID(r.Header.Get("X-Eunoe-Bank"))
	}
	if err := chatNames(&call); err != nil {
		return err
	}
	began := time.Now()
	c, err := g.keys.getWithin(r.Context(), own, began.Add(g.cfg.Chat.Patience))
	// Only callers whom the broker accepts may spend the gateway's own key of the upstream.
	if err != nil && (!errors.Is(err, memory.ErrUnavailable) || upstream == "" && g.cfg.Chat.Key != "") {
		return err
	}
	done := func() {}
	if err == nil {
		done = func() { g.keys.put(c) }
		if err := c.admit(1); err != nil {
			done()
			return err
		}
		call.Memory = c.client
		owned(w, c.key)
	}
	patience := g.cfg.Chat.Patience - time.Since(began)
	if call.Body, err = body(w, r, maxBatch); err != nil {
		done()
		return err
	}
	call.Until = time.Now().Add(patience)
	return g.chat.Serve(w, r, call, done)
}

// chatNames checks the names in the headers of a call.
func chatNames(c *chatproxy.Call) error {
	if c.Bank == "" {
		c.Bank = "default"
	}
	if _, err := memory.ParseBankID(string(c.Bank)); err != nil {
		return named("X-Eunoe-Bank", err)
	}
	if c.Session != "" {
		if _, err := memory.ParseSessionID(string(c.Session)); err != nil {
			return named("X-Eunoe-Session", err)
		}
	}
	if err := (memory.Message{Content: "-", Speaker: c.Speaker}).Validate(); err != nil {
		return named("X-Eunoe-Speaker", err)
	}
	return nil
}

// named replaces the field of an error by the header that holds it.
func named(header string, err error) error {
	var field *memory.FieldError
	if errors.As(err, &field) {
		return memory.Invalid(header, "%s", field.Message)
	}
	return err
}

// chatKeys separates Eunoe's key from the header for the upstream. A seed is Eunoe's key in either header and is never
// sent to the upstream. Authorization without a seed belongs to the upstream, also if X-Eunoe-Key holds the seed.
func chatKeys(r *http.Request) (own, upstream string, err error) {
	for name, values := range r.Header {
		if name != "Authorization" && name != "X-Eunoe-Key" && slices.ContainsFunc(values, func(v string) bool { return seedIn(v) != "" }) {
			return "", "", &refusal{status: http.StatusBadRequest, field: name, message: "has a key of Eunoe; expected it in X-Eunoe-Key, or in Authorization"}
		}
	}
	if query, err := url.QueryUnescape(r.URL.RawQuery); err != nil || seedIn(query) != "" {
		return "", "", &refusal{status: http.StatusBadRequest, message: "the address has a key of Eunoe, or cannot be read; expected the key in X-Eunoe-Key, or in Authorization"}
	}
	values := r.Header.Values("Authorization")
	if len(values) > 1 || len(r.Header.Values("X-Eunoe-Key")) > 1 {
		return "", "", &refusal{status: http.StatusBadRequest, field: "Authorization", message: "there are several keys of one kind; expected one Authorization and one X-Eunoe-Key"}
	}
	if len(values) == 1 {
		upstream = values[0]
	}
	own = strings.TrimSpace(r.Header.Get("X-Eunoe-Key"))
	if seed := seedIn(upstream); seed != "" {
		if own != "" {
			return "", "", &refusal{status: http.StatusBadRequest, field: "Authorization", message: "has a key of Eunoe beside that in X-Eunoe-Key; expected the key of the upstream, or none"}
		}
		return seed, "", nil
	}
	return own, upstream, nil
}

// seedIn returns the first word of a text that looks like the seed of an nkey, of whatever kind: it must not leave this
// deployment. Whatever is no letter of a seed parts words.
func seedIn(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < '2' || r > '7') })
	if i := slices.IndexFunc(words, func(w string) bool { return len(w) > 40 && w[0] == 'S' }); i >= 0 {
		return words[i]
	}
	return ""
}

// getWithin is get with a time limit. After it the error is memory.ErrUnavailable; the connection is still made, and
// serves later requests.
func (k *keys) getWithin(ctx context.Context, seed string, until time.Time) (*caller, error) {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	type result struct {
		c   *caller
		err error
	}
	got := make(chan result)
	go func() {
		c, err := k.get(context.WithoutCancel(ctx), seed)
		select {
		case got <- result{c, err}:
		case <-ctx.Done():
			if err == nil {
				k.put(c)
			}
		}
	}()
	select {
	case r := <-got:
		return r.c, r.err
	case <-ctx.Done():
		return nil, memory.ErrUnavailable
	}
}
