package client

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Admin is the operator's door. It needs permission for the subjects
// <prefix>.admin.>; bots have none.
type Admin struct{ c *Client }

// Admin gives the operator's door.
func (c *Client) Admin() Admin { return Admin{c} }

// Raw sends a request to the operator's door and gives the reply's body as it
// came. endpoint is the last token of the subject ("banks").
func (a Admin) Raw(ctx context.Context, endpoint string, body []byte) ([]byte, error) {
	return a.c.request(ctx, a.c.conn.Naming.AdminSubject(endpoint), body)
}

func askAdmin[Reply any](ctx context.Context, a Admin, endpoint string, req any) (Reply, error) {
	return askSubject[Reply](ctx, a.c, a.c.conn.Naming.AdminSubject(endpoint), req)
}

// Banks walks every bank, by id.
func (a Admin) Banks(ctx context.Context) iter.Seq2[memory.Bank, error] {
	return walk(func(cursor string) (memory.Page[memory.Bank], error) {
		return askAdmin[memory.Page[memory.Bank]](ctx, a, "banks", paging{Cursor: cursor})
	})
}

type paging struct {
	Cursor string `json:"cursor,omitempty"`
}

// DeadLetters walks the dead letters of all banks, oldest first.
func (a Admin) DeadLetters(ctx context.Context) iter.Seq2[events.DeadLetter, error] {
	return walk(func(cursor string) (memory.Page[events.DeadLetter], error) {
		return askAdmin[memory.Page[events.DeadLetter]](ctx, a, "dead", memory.DeadRequest{Action: "list", Cursor: cursor})
	})
}

// DeadLetter reads one dead letter; ErrNotFound where there is none.
func (a Admin) DeadLetter(ctx context.Context, id uint64) (events.DeadLetter, error) {
	page, err := askAdmin[memory.Page[events.DeadLetter]](ctx, a, "dead", memory.DeadRequest{Action: "show", ID: id})
	if err != nil || len(page.Items) == 0 {
		return events.DeadLetter{}, err
	}
	return page.Items[0], nil
}

// RetryDead sends the event of a dead letter again, where it came from.
func (a Admin) RetryDead(ctx context.Context, id uint64) error {
	_, err := askAdmin[json.RawMessage](ctx, a, "dead", memory.DeadRequest{Action: "retry", ID: id})
	return err
}

// Reextract has the windows of a bank, or of one session of it ("" = all),
// extracted anew and says how many those are.
func (a Admin) Reextract(ctx context.Context, bank memory.BankID, session memory.SessionID) (int, error) {
	r, err := askAdmin[struct {
		Windows int `json:"windows"`
	}](ctx, a, "reextract", map[string]any{"bank": bank, "session": session})
	if err != nil {
		return 0, fmt.Errorf("re-extract bank %s: %w", bank, err)
	}
	return r.Windows, nil
}

// DropDead erases a dead letter.
func (a Admin) DropDead(ctx context.Context, id uint64) error {
	_, err := askAdmin[json.RawMessage](ctx, a, "dead", memory.DeadRequest{Action: "drop", ID: id})
	return err
}

// Verify checks the whole store and says what it found.
func (a Admin) Verify(ctx context.Context) (json.RawMessage, error) {
	return askAdmin[json.RawMessage](ctx, a, "verify", struct{}{})
}

// Erase erases a bank for good, from the store and the streams.
func (a Admin) Erase(ctx context.Context, bank memory.BankID) (memory.Receipt, error) {
	if _, err := memory.ParseBankID(string(bank)); err != nil {
		return memory.Receipt{}, err
	}
	r, err := askAdmin[memory.Receipt](ctx, a, "erase", map[string]any{"bank": bank})
	if err != nil {
		return r, fmt.Errorf("erase bank %s: %w", bank, err)
	}
	return r, nil
}
