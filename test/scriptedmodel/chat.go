package scriptedmodel

import (
	"net/http"
	"strconv"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

func itoa(n int) string { return strconv.Itoa(n) }

func (h *Handler) chat(w http.ResponseWriter, r *http.Request) {
	req := h.begin(w, r, (*Request).readChat)
	if req == nil {
		return
	}
	h.delay(r)
	out := Response{Fault: TooLong}
	if h.script.Context == 0 || size(req) <= h.script.Context {
		out = h.decide(req)
	}
	call := Call{Request: *req, Fault: out.Fault, Status: http.StatusOK}
	if h.refuses(w, r, call, out) {
		return
	}
	out = spoil(out, req)
	if text, cut := cutTokens(out.Text, req.Limit); cut {
		out.Text, out.Truncated = text, true
	}
	out.Calls = named(req.N, out.Calls)
	call.Answer, call.ToolCalls, call.Usage = out.Text, out.Calls, h.measure(req, out)
	if out.Fault == Reset || out.Fault == Cut {
		call.Status = 0
		call.Usage = memory.Usage{}
	}
	h.record(call)
	b := chatBody{id: "chatcmpl-" + itoa(req.N), model: req.Model, out: out, usage: asWire(call.Usage)}
	switch {
	case out.Fault == WebPage:
		h.page(w)
	case req.Stream:
		h.send(w, r, out, "text/event-stream", b.chunks(req.WantsUsage))
	default:
		h.send(w, r, out, "application/json", [][]byte{b.whole()})
	}
}

// chatBody is an answer ready to be encoded.
type chatBody struct {
	id, model string
	out       Response
	usage     wireUsage
}

type wireAnswer struct {
	Role    string     `json:"role,omitempty"`
	Content *string    `json:"content"`
	Calls   []wireCall `json:"tool_calls,omitempty"`
	Refusal *string    `json:"refusal,omitempty"`
}

type wireChoice struct {
	Index   int         `json:"index"`
	Message *wireAnswer `json:"message,omitempty"`
	Delta   *wireAnswer `json:"delta,omitempty"`
	Finish  *string     `json:"finish_reason"`
}

type wireReply struct {
	ID      string       `json:"id"`
	Object  string       `json:"object"`
	Created int64        `json:"created"`
	Model   string       `json:"model"`
	Choices []wireChoice `json:"choices"`
	Usage   *wireUsage   `json:"usage,omitempty"`
}

func (b chatBody) finish() string {
	switch {
	case b.out.Truncated:
		return "length"
	case len(b.out.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

func (b chatBody) whole() []byte {
	m := &wireAnswer{Role: "assistant"}
	if b.out.Text != "" || len(b.out.Calls) == 0 {
		m.Content = &b.out.Text
	}
	for _, c := range b.out.Calls {
		m.Calls = append(m.Calls, wireCallOf(c))
	}
	finish := b.finish()
	reply := wireReply{ID: b.id, Object: "chat.completion", Model: b.model, Usage: &b.usage, Choices: []wireChoice{{Message: m, Finish: &finish}}}
	if b.out.Fault == NoChoices {
		reply.Choices = []wireChoice{}
	}
	return encode(reply)
}

func wireCallOf(c memory.ToolCall) wireCall {
	out := wireCall{ID: c.ID, Type: "function"}
	out.Function.Name, out.Function.Arguments = c.Name, c.Arguments
	return out
}

// refuses carries out a fault that sends no answer, and records the call.
func (h *Handler) refuses(w http.ResponseWriter, r *http.Request, call Call, out Response) bool {
	status := out.Fault.status()
	if status == 0 && out.Fault != Hang {
		return false
	}
	if out.Fault == Hang {
		call.Status = 0
		h.record(call)
		if !h.wait(r.Context(), bound(out.Wait)) {
			panic(http.ErrAbortHandler)
		}
		refuse(w, http.StatusGatewayTimeout, "timeout", "the model did not answer in time")
		return true
	}
	call.Status = status
	h.record(call)
	if out.Fault == RateLimit || out.Fault == Overloaded {
		w.Header().Set("Retry-After", itoa(retryAfter(out.Wait)))
	}
	text := out.Text
	if text == "" {
		text = refusals[out.Fault]
	}
	code := codes[out.Fault]
	if code == "" {
		code = "fault_" + string(out.Fault)
	}
	refuse(w, status, code, text)
	return true
}

var refusals = map[Kind]string{
	RateLimit: "Rate limit reached, try again later.", ServerError: "The server had an error while processing the request.",
	BadGateway: "Bad gateway.", Overloaded: "The model is overloaded.", BadRequest: "The request is not valid.", Unauthorised: "Incorrect API key provided.",
	TooLong:  "This model's maximum context length is exceeded by the messages.",
	NoSchema: "Invalid parameter: response_format of type json_schema is not supported with this model.",
	NoFormat: "Invalid parameter: response_format is not supported with this model.", NoTools: "tools is not supported with this model.",
}

var codes = map[Kind]string{RateLimit: "rate_limit_exceeded", Unauthorised: "invalid_api_key", TooLong: "context_length_exceeded"}
