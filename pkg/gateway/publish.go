package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// MaxMessages is how many messages an array of a publish may hold.
const MaxMessages = 1000

func session(r *http.Request) memory.SessionID { return memory.SessionID(r.PathValue("session")) }

// publish stores a message, or an array of them, and answers with their positions. With an Idempotency-Key a message
// without an id gets one made of it, so that the request may be repeated.
func (g *Gateway) publish(w http.ResponseWriter, r *http.Request, c *caller) error {
	if err := checkQuery(r, nil); err != nil {
		return err
	}
	data, err := body(w, r, maxBatch)
	if err != nil {
		return err
	}
	list, many, err := messages(data)
	if err != nil {
		return err
	}
	if key := r.Header.Get("Idempotency-Key"); key != "" {
		for i := range list {
			if list[i].ID == "" {
				list[i].ID = memory.MessageID(key)
				if many {
					list[i].ID = memory.MessageID(fmt.Sprintf("%s-%d", key, i))
				}
			}
		}
	}
	for i, m := range list {
		if err := m.Validate(); err != nil {
			return at(err, many, i)
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), askWithin)
	defer cancel()
	seqs, err := c.client.PublishAll(ctx, bank(r), session(r), list)
	if err != nil {
		return err
	}
	out := Published{Seq: slices.Max(seqs)}
	if many {
		out.Seqs = seqs
	}
	write(w, http.StatusOK, encode(out))
	return nil
}

// messages reads one message or an array; many reports an array.
func messages(data []byte) (list []memory.Message, many bool, err error) {
	data = bytes.TrimSpace(data)
	if !utf8.Valid(data) {
		return nil, false, memory.Invalid("", "the body is not valid UTF-8")
	}
	raw := []json.RawMessage{data}
	if many = len(data) > 0 && data[0] == '['; many {
		var first [MaxMessages + 1]json.RawMessage // what follows them is not kept: it may be millions
		if err := json.Unmarshal(data, &first); err != nil {
			return nil, true, memory.Invalid("", "malformed JSON: %v", err)
		}
		raw = slices.DeleteFunc(first[:], func(m json.RawMessage) bool { return m == nil })
		if len(raw) == 0 {
			return nil, true, memory.Invalid("", "the array has no messages; expected 1 to %d", MaxMessages)
		}
		if len(raw) > MaxMessages {
			return nil, true, memory.Invalid("", "the array has more than %d messages; send them in several requests", MaxMessages)
		}
	}
	list = make([]memory.Message, len(raw))
	for i, b := range raw {
		if list[i], err = memory.DecodeMessage(b); err != nil {
			return nil, many, at(err, many, i)
		}
	}
	return list, many, nil
}

// at adds the index of the message to an error.
func at(err error, many bool, i int) error {
	var f *memory.FieldError
	if !many || !errors.As(err, &f) {
		return err
	}
	out := *f
	out.Field = fmt.Sprint(i)
	if f.Field != "" {
		out.Field += "." + f.Field
	}
	return &out
}

func (g *Gateway) flush(w http.ResponseWriter, r *http.Request, c *caller) error {
	if err := checkQuery(r, nil); err != nil {
		return err
	}
	data, err := body(w, r, maxBody)
	if err != nil {
		return err
	}
	var none FlushRequest
	if err := memory.Decode(data, &none); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), 10*time.Second)
	defer cancel()
	seq, err := c.client.Flush(ctx, bank(r), session(r))
	if err != nil {
		return err
	}
	write(w, http.StatusOK, encode(Published{Seq: seq}))
	return nil
}
