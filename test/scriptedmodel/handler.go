package scriptedmodel

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// maxBody bounds the body of a call, in bytes.
const maxBody = 64 << 20

// Handler answers the protocol. It is safe for concurrent use.
type Handler struct {
	script *Script
	mux    *http.ServeMux
	ctx    context.Context // ends with Close
	stop   context.CancelFunc
	busy   sync.WaitGroup

	mu     sync.Mutex
	n      int
	calls  []Call
	counts counts
	seen   map[uint64]struct{} // beginnings of prompts, for cached tokens
}

// New makes the handler of a script; nil is one that follows the rules. Paths
// begin with /v1, but for /rerank. Nothing is started; Close ends what hangs.
func New(s *Script) *Handler {
	if s == nil {
		s = &Script{}
	}
	h := &Handler{script: s, mux: http.NewServeMux(), seen: map[uint64]struct{}{}}
	h.ctx, h.stop = context.WithCancel(context.Background())
	h.mux.HandleFunc("POST /v1/chat/completions", h.chat)
	h.mux.HandleFunc("POST /v1/embeddings", h.embeddings)
	h.mux.HandleFunc("POST /v1/rerank", h.rerank)
	h.mux.HandleFunc("POST /rerank", h.rerank)
	h.mux.HandleFunc("GET /v1/models", h.models)
	h.mux.HandleFunc("GET /v1/testmodel/stats", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, h.Stats()) })
	h.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, "not_found", r.Method+" "+r.URL.Path+" is not served here")
	})
	return h
}

// ServeHTTP answers one call.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	if h.ctx.Err() != nil {
		h.mu.Unlock()
		panic(http.ErrAbortHandler)
	}
	h.busy.Add(1)
	h.mu.Unlock()
	defer h.busy.Done()
	h.mux.ServeHTTP(w, r)
}

// Close ends calls that hang, and waits for all that are under way. Calls that come later lose their connection.
func (h *Handler) Close() {
	h.mu.Lock()
	h.stop()
	h.mu.Unlock()
	h.busy.Wait()
}

// begin reads a call's body and numbers the call. Without a request the call has been refused.
func (h *Handler) begin(w http.ResponseWriter, r *http.Request, read func(*Request, []byte) error) *Request {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			refuse(w, http.StatusRequestEntityTooLarge, "too_large", "the body is too large")
		}
		return nil
	}
	req := &Request{Path: r.URL.Path, Header: r.Header.Clone()}
	if err := read(req, body); err != nil {
		refuse(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return nil
	}
	if req.Model == "" {
		req.Model = h.model()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.n++
	req.N = h.n
	return req
}

// decide determines the answer to a call.
func (h *Handler) decide(req *Request) Response {
	next, fn := h.script.next(req)
	if next.given || !next.Fault.answers() && next.Fault != "" {
		return next.Response
	}
	var out Response
	switch {
	case fn != nil:
		out = fn(*req)
	case h.script.Obey:
		out = h.obey(req)
	default:
		out = h.rule(req)
	}
	if next.Fault != "" {
		out.Fault, out.Wait = next.Fault, next.Wait
	}
	return out
}

// delay waits the script's latency. A client that is gone ends the call.
func (h *Handler) delay(r *http.Request) {
	if h.script.Latency > 0 && !h.wait(r.Context(), h.script.Latency) {
		panic(http.ErrAbortHandler)
	}
}

// wait waits for d; it returns false if the client disconnected or the handler was closed.
func (h *Handler) wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
	case <-h.ctx.Done():
	}
	return false
}

func (h *Handler) model() string {
	if h.script.Model != "" {
		return h.script.Model
	}
	return "testmodel"
}

func (h *Handler) models(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{
		map[string]any{"id": h.model(), "object": "model", "created": 0, "owned_by": "eunoe"},
	}})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		refuse(w, http.StatusInternalServerError, "internal", err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(body) //nolint:errcheck // the client is gone, which is its right
}

// refuse answers with an error in the protocol's shape.
func refuse(w http.ResponseWriter, status int, kind, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	body, _ := json.Marshal(map[string]any{"error": map[string]any{ //nolint:errcheck // strings always encode
		"message": message, "type": kind, "param": nil, "code": kind,
	}})
	w.Write(body) //nolint:errcheck // the client is gone, which is its right
}

// named assigns an id to calls without one.
func named(n int, calls []memory.ToolCall) []memory.ToolCall {
	out := make([]memory.ToolCall, len(calls))
	for i, c := range calls {
		if c.ID == "" {
			c.ID = "call_" + itoa(n) + "_" + itoa(i)
		}
		out[i] = c
	}
	return out
}
