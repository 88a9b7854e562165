package scriptedmodel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
	"unicode/utf8"
)

// piece is the size of a delta of a stream, in bytes.
const piece = 24

// encode writes a body; the mark of InvalidUTF8 becomes bytes that are none.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return []byte(`{"error":{"message":"the answer cannot be written"}}`)
	}
	return bytes.ReplaceAll(bytes.TrimRight(b.Bytes(), "\n"), []byte(brokenMark), []byte("\xff\xfe"))
}

// chunks returns the events of a stream.
func (b chatBody) chunks(usage bool) [][]byte {
	var out [][]byte
	event := func(r wireReply) {
		r.ID, r.Object, r.Model = b.id, "chat.completion.chunk", b.model
		out = append(out, fmt.Appendf(nil, "data: %s\n\n", encode(r)))
	}
	delta := func(d wireAnswer, finish *string) {
		event(wireReply{Choices: []wireChoice{{Delta: &d, Finish: finish}}})
	}
	if b.out.Fault != NoChoices {
		empty := ""
		delta(wireAnswer{Role: "assistant", Content: &empty}, nil)
		for _, part := range pieces(b.out.Text) {
			delta(wireAnswer{Content: &part}, nil)
		}
		for i, c := range b.out.Calls {
			first := wireCallOf(c)
			first.Index, first.Function.Arguments = &i, ""
			delta(wireAnswer{Calls: []wireCall{first}}, nil)
			for _, part := range pieces(c.Arguments) {
				more := wireCall{Index: &i}
				more.Function.Arguments = part
				delta(wireAnswer{Calls: []wireCall{more}}, nil)
			}
		}
		finish := b.finish()
		delta(wireAnswer{}, &finish)
	}
	if usage {
		event(wireReply{Choices: []wireChoice{}, Usage: &b.usage})
	}
	return append(out, []byte("data: [DONE]\n\n"))
}

// pieces cuts a text between runes into the deltas of a stream, some hundreds at most.
func pieces(text string) []string {
	var out []string
	size := max(piece, len(text)/400)
	for text != "" {
		n := min(size, len(text))
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		out = append(out, text[:n])
		text = text[n:]
	}
	return out
}

// send writes a body that comes in parts, whole or with its fault.
func (h *Handler) send(w http.ResponseWriter, r *http.Request, out Response, contentType string, parts [][]byte) {
	switch out.Fault {
	case Reset, Cut:
		breakOff(w, contentType, bytes.Join(parts, nil), out.Fault == Reset)
		return
	case Slow:
		h.trickle(w, r, contentType, bytes.Join(parts, nil), bound(out.Wait))
		return
	}
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(w)
	for _, p := range parts {
		if _, err := w.Write(p); err != nil {
			return
		}
		if len(parts) > 1 {
			flush.Flush() //nolint:errcheck // a client that is gone shows at the next write
		}
	}
}

// trickle writes a body in a hundred parts over a given time.
func (h *Handler) trickle(w http.ResponseWriter, r *http.Request, contentType string, body []byte, d time.Duration) {
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(w)
	size := (len(body) + 99) / 100
	for len(body) > 0 {
		n := min(size, len(body))
		if _, err := w.Write(body[:n]); err != nil {
			return
		}
		flush.Flush() //nolint:errcheck // a client that is gone shows at the next write
		if body = body[n:]; !h.wait(r.Context(), d/100) {
			panic(http.ErrAbortHandler) // the body must not look whole
		}
	}
}

// breakOff sends the head and a first part of a body and drops the connection.
func breakOff(w http.ResponseWriter, contentType string, body []byte, reset bool) {
	conn, buf, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer conn.Close() //nolint:errcheck // it is to break
	head := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", contentType, len(body))
	buf.WriteString(head + string(body[:len(body)*2/3])) //nolint:errcheck // it is to break
	buf.Flush()                                          //nolint:errcheck // it is to break
	if tcp, ok := conn.(*net.TCPConn); ok && reset {
		tcp.SetLinger(0) //nolint:errcheck // without it the connection ends, which is a break as well
	}
}

// page answers with an HTML page instead of JSON.
func (h *Handler) page(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(http.StatusOK)
	io.WriteString(w, "<!doctype html><html><body><h1>Service temporarily unavailable</h1></body></html>") //nolint:errcheck // the client is gone, which is its right
}

func bound(d time.Duration) time.Duration {
	if d <= 0 {
		return DefaultWait
	}
	return d
}

// retryAfter is in whole seconds, rounded up; a second unless told.
func retryAfter(d time.Duration) int {
	if d <= 0 {
		return 1
	}
	return int((d + time.Second - 1) / time.Second)
}
