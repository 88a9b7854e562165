package wire

import (
	"context"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Handler answers the requests of one endpoint.
type Handler struct {
	Description
	// Serve decodes a request body, which must hold no unknown field, and returns the reply, a value to encode as
	// JSON. send hands over a Delta before the reply; only an endpoint that streams calls it. The bank of an
	// operator's endpoint is "".
	Serve func(ctx context.Context, bank memory.BankID, body []byte, send func(Delta) error) (any, error)
}

// Handle binds a method to an entry of the table. The compiler checks that the method takes and returns the entry's
// types.
func Handle[Request, Reply any](e Endpoint[Request, Reply], method func(context.Context, memory.BankID, Request) (Reply, error)) Handler {
	return HandleStream(e, func(ctx context.Context, bank memory.BankID, r Request, _ func(Delta) error) (Reply, error) {
		return method(ctx, bank, r)
	})
}

// HandleStream is Handle for a method that may send pieces of its reply first.
func HandleStream[Request, Reply any](e Endpoint[Request, Reply],
	method func(context.Context, memory.BankID, Request, func(Delta) error) (Reply, error),
) Handler {
	return Handler{Description: e.Describe(), Serve: func(ctx context.Context, bank memory.BankID, body []byte, send func(Delta) error) (any, error) {
		var r Request
		if err := memory.Decode(body, &r); err != nil {
			return nil, err
		}
		return method(ctx, bank, r, send)
	}}
}
