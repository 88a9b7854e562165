package gateway

import (
	"context"
	"encoding/json"
	"mime"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// askWithin is the longest time for an answer, in addition to the wait and deadline of the request.
const askWithin = 30 * time.Second

// bank returns the bank of a path.
func bank(r *http.Request) memory.BankID { return memory.BankID(r.PathValue("bank")) }

// mediaType refuses a body whose Content-Type is not JSON. A foreign page can send JSON only after a preflight request,
// which the guard answers.
func mediaType(r *http.Request) error {
	if r.Method != http.MethodPost {
		return nil
	}
	given := r.Header.Get("Content-Type")
	kind, params, err := mime.ParseMediaType(given)
	if charset := params["charset"]; err != nil || kind != "application/json" || charset != "" && !strings.EqualFold(charset, "utf-8") {
		return &refusal{status: http.StatusUnsupportedMediaType, field: "Content-Type", message: "expected Content-Type: application/json, in UTF-8"}
	}
	return nil
}

// ask forwards a request to its endpoint.
func ask(e wire.Description) func(*Gateway, http.ResponseWriter, *http.Request, *caller) error {
	return func(g *Gateway, w http.ResponseWriter, r *http.Request, c *caller) error {
		if err := checkQuery(r, nil); err != nil {
			return err
		}
		data, err := body(w, r, maxBody)
		if err != nil {
			return err
		}
		if key := r.Header.Get("Idempotency-Key"); key != "" && e.Writes() {
			if data, err = withOp(data, key); err != nil {
				return err
			}
		}
		told := tellsOf(data)
		ctx, cancel := context.WithTimeout(r.Context(), askWithin+time.Duration(max(0, told.Wait)+max(0, told.Deadline)))
		defer cancel()
		if e.Streams && told.Stream {
			return g.stream(ctx, w, c, e, bank(r), data)
		}
		reply, err := c.client.Ask(ctx, e, bank(r), data)
		if err != nil {
			return err
		}
		write(w, http.StatusOK, reply)
		return nil
	}
}

// askBy is ask for a path whose request is in its path and query.
func askBy(e wire.Description, query []string, request func(*http.Request) (any, error)) func(*Gateway, http.ResponseWriter, *http.Request, *caller) error {
	return func(_ *Gateway, w http.ResponseWriter, r *http.Request, c *caller) error {
		if err := checkQuery(r, query); err != nil {
			return err
		}
		req, err := request(r)
		if err != nil {
			return err
		}
		reply, err := c.client.Ask(r.Context(), e, bank(r), encode(req))
		if err != nil {
			return err
		}
		write(w, http.StatusOK, reply)
		return nil
	}
}

// tells holds the fields of a request that the gateway itself reads: how long it may take, and the form of the answer.
type tells struct {
	Wait     memory.Duration `json:"wait"`
	Deadline memory.Duration `json:"deadline"`
	Stream   bool            `json:"stream"`
}

// longest is the longest wait and deadline that the contract allows.
const longest = memory.Duration(5 * time.Minute)

func tellsOf(data []byte) tells {
	var t tells
	_ = json.Unmarshal(data, &t) //nolint:errcheck // the endpoint refuses what is wrong
	t.Wait, t.Deadline = min(t.Wait, longest), min(t.Deadline, longest)
	return t
}

// withOp returns a request with the op that its Idempotency-Key names.
func withOp(data []byte, op string) ([]byte, error) {
	var given struct {
		Op *string `json:"op"`
	}
	if len(data) == 0 {
		data = []byte("{}")
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil || json.Unmarshal(data, &given) != nil {
		return data, nil // the endpoint says what is wrong with it
	}
	if given.Op != nil && *given.Op != op {
		return nil, memory.Invalid("op", "differs from the header Idempotency-Key; expected one of the two, or both alike")
	}
	fields["op"] = encode(op)
	return encode(fields), nil
}

// The bodies of the gateway's own paths.
type (
	// Published answers a publish: Seq is the position of the message, which a recall takes as after. For an array it is
	// the position of the last message, and Seqs are the positions of all.
	Published struct {
		Seq  uint64   `json:"seq"`
		Seqs []uint64 `json:"seqs,omitempty"`
	}
	// Self describes the user of a request's key.
	Self struct {
		Key     string `json:"key"` // public, "" without users
		Prefix  string `json:"prefix"`
		Version string `json:"version"`
	}
	// Health is the state of the gateway.
	Health struct {
		OK bool `json:"ok"`
	}
	// FlushRequest has no fields.
	FlushRequest struct{}
	// Document is a document for people or programs.
	Document struct{}
)

var (
	published = wire.Body{Name: "Published", Type: reflect.TypeFor[Published](), Example: Published{Seq: 1240}}
	self      = wire.Body{Name: "Self", Type: reflect.TypeFor[Self](), Example: Self{Prefix: "mem", Version: "0.1.0"}}
	health    = wire.Body{Name: "Health", Type: reflect.TypeFor[Health](), Example: Health{OK: true}}
	flush     = wire.Body{Name: "FlushRequest", Type: reflect.TypeFor[FlushRequest](), Example: FlushRequest{}}
	document  = wire.Body{Name: "Document", Type: reflect.TypeFor[Document](), Example: Document{}}
	message   = wire.Body{Name: "Message", Type: reflect.TypeFor[memory.Message](), Example: memory.Message{Speaker: "Alice", Content: "I am allergic to shellfish."}}
	change    = wire.Changes.Describe().Reply
)

func (g *Gateway) self(w http.ResponseWriter, r *http.Request, c *caller) error {
	if err := checkQuery(r, nil); err != nil {
		return err
	}
	write(w, http.StatusOK, encode(Self{Key: c.key, Prefix: c.client.Conn().Naming.Prefix, Version: g.cfg.Version}))
	return nil
}

func (g *Gateway) live(w http.ResponseWriter, _ *http.Request) error {
	write(w, http.StatusOK, encode(Health{OK: true}))
	return nil
}

func (g *Gateway) ready(w http.ResponseWriter, r *http.Request) error {
	if err := g.Ready(r.Context()); err != nil {
		return err
	}
	return g.live(w, r)
}
