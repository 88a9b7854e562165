package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// Usage gives what models took for the bank, by stage and model; nil for nothing.
func (r *reader) Usage() ([]memory.StageUsage, error) {
	const find = `SELECT stage, model, sum(calls), sum(failed), sum(prompt), sum(cached), sum(completion) FROM usage
WHERE bank = ? GROUP BY stage, model ORDER BY stage, model`
	var out []memory.StageUsage
	err := r.scanAll("sum up usage", find, []any{r.bank}, func(rows *sql.Rows) error {
		var u memory.StageUsage
		err := rows.Scan(&u.Stage, &u.Model, &u.Calls, &u.Failed, &u.PromptTokens, &u.CachedTokens, &u.CompletionTokens)
		out = append(out, u)
		return err
	})
	return out, err
}

// Spent gives the tokens that language models took for a bank on a UTC day
// ("2026-05-20"), embedding and reranking aside, and the bank's own bound of
// them; 0 = it has none. A bank that was never made spent nothing.
func (db *DB) Spent(ctx context.Context, bank memory.BankID, day string) (tokens, bound int64, err error) {
	const sum = `SELECT coalesce(sum(prompt + completion), 0) FROM usage WHERE bank = ? AND day = ? AND stage NOT IN (?, ?)`
	err = db.readBank(ctx, bank, func(r *reader) error {
		b, err := r.Bank()
		if err != nil {
			return err
		}
		if b.Quotas != nil {
			bound = b.Quotas.TokensPerDay
		}
		if err := r.tx.QueryRowContext(r.ctx, sum, r.bank, day, memory.StageEmbed, memory.StageRerank).Scan(&tokens); err != nil {
			return fmt.Errorf("sum up the tokens of %s: %w", day, err)
		}
		return nil
	})
	if errors.Is(err, memory.ErrNotFound) {
		err = nil
	}
	return tokens, bound, err
}

// Bytes sums up the text and captions of the bank's messages.
func (r *reader) Bytes() (n int64, err error) {
	const sum = `SELECT coalesce(sum(octet_length(content) + octet_length(caption)), 0) FROM messages WHERE bank = ?`
	if err := r.tx.QueryRowContext(r.ctx, sum, r.bank).Scan(&n); err != nil {
		return 0, fmt.Errorf("sum up messages: %w", err)
	}
	return n, nil
}
