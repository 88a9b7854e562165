package client

import (
	"context"
	"fmt"
	"iter"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// Admin calls the operators' endpoints. It needs permission for the subjects <prefix>.admin.>, which bots do not have.
type Admin struct{ c *Client }

// Admin returns the operators' side of the client.
func (c *Client) Admin() Admin { return Admin{c} }

// Banks walks every bank, by id.
func (a Admin) Banks(ctx context.Context) iter.Seq2[memory.Bank, error] {
	return walk("", func(cursor string) (wire.Page[memory.Bank], error) {
		return Call(ctx, a.c, wire.Banks, "", wire.BanksRequest{Cursor: cursor})
	})
}

// DeadLetters walks the dead letters of all banks, oldest first, without their payloads.
func (a Admin) DeadLetters(ctx context.Context) iter.Seq2[memory.DeadLetter, error] {
	return walk("", func(cursor string) (wire.Page[memory.DeadLetter], error) {
		reply, err := a.Dead(ctx, wire.DeadRequest{Action: "list", Cursor: cursor})
		return wire.Page[memory.DeadLetter]{Items: reply.Items, Next: reply.Next}, err
	})
}

// DeadLetter reads one dead letter with its payload; ErrNotFound where there is none.
func (a Admin) DeadLetter(ctx context.Context, id uint64) (memory.DeadLetter, error) {
	reply, err := a.Dead(ctx, wire.DeadRequest{Action: "show", ID: id})
	if err != nil || len(reply.Items) == 0 {
		return memory.DeadLetter{}, err
	}
	return reply.Items[0], nil
}

// RetryDead publishes the event of a dead letter again, on the subject it came from.
func (a Admin) RetryDead(ctx context.Context, id uint64) error {
	_, err := a.Dead(ctx, wire.DeadRequest{Action: "retry", ID: id})
	return err
}

// DropDead erases a dead letter.
func (a Admin) DropDead(ctx context.Context, id uint64) error {
	_, err := a.Dead(ctx, wire.DeadRequest{Action: "drop", ID: id})
	return err
}

// Dead lists, shows, retries or drops dead letters, one or all of a bank and stage.
func (a Admin) Dead(ctx context.Context, req wire.DeadRequest) (wire.DeadReply, error) {
	return Call(ctx, a.c, wire.Dead, "", req)
}

// Reextract puts the windows of a bank, or of one session of it ("" = all), on the queue again and returns how many
// those are.
func (a Admin) Reextract(ctx context.Context, bank memory.BankID, session memory.SessionID) (int, error) {
	reply, err := Call(ctx, a.c, wire.Reextract, "", wire.ReextractRequest{Bank: string(bank), Session: string(session)})
	if err != nil {
		return 0, fmt.Errorf("re-extract bank %s: %w", bank, err)
	}
	return reply.Windows, nil
}

// Verify checks the whole store, by itself and against the log, and returns what it found. It changes nothing.
func (a Admin) Verify(ctx context.Context, req wire.VerifyRequest) (wire.Verification, error) {
	return Call(ctx, a.c, wire.Verify, "", req)
}

// Erase erases a bank for good, from the store and the streams, and returns the receipt, which may be Pending as that of
// Client.Forget.
func (a Admin) Erase(ctx context.Context, bank memory.BankID) (wire.ForgetReply, error) {
	if _, err := memory.ParseBankID(string(bank)); err != nil {
		return wire.ForgetReply{}, err
	}
	reply, err := Call(ctx, a.c, wire.Erase, "", wire.EraseRequest{Bank: string(bank)})
	if err != nil {
		return reply, fmt.Errorf("erase bank %s: %w", bank, err)
	}
	return reply, nil
}
