package query

import (
	"context"
	"errors"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// room refuses what a bank has no room for by its quotas, with memory.ErrQuota
// and the quota's name: anything more once it holds as many live facts, or as
// many bytes of messages, as it may, and a text that would pass the latter. A
// bank that is not made yet has room, and so has a message that is stored.
func (s *Service) room(ctx context.Context, bank memory.BankID, id memory.MessageID, text string) error {
	err := s.store.Read(ctx, bank, func(r Reader) error {
		b, err := r.Bank()
		if err != nil || b.Quotas == nil {
			return err
		}
		if id != "" {
			if known, err := r.SourcesNamed([]memory.MessageID{id}); err != nil || len(known) > 0 {
				return err
			}
		}
		if most := b.Quotas.Facts; most > 0 {
			t, err := r.Tally()
			if err != nil {
				return err
			}
			if int64(t.Facts) >= most {
				return overQuota("facts", "the bank holds %d facts and may hold %d", t.Facts, most)
			}
		}
		if most := b.Quotas.Bytes; most > 0 {
			n, err := r.Bytes()
			if err != nil {
				return err
			}
			if n >= most || n+int64(len(text)) > most {
				return overQuota("bytes", "the bank holds %d bytes of messages and may hold %d", n, most)
			}
		}
		return nil
	})
	if errors.Is(err, memory.ErrNotFound) {
		return nil
	}
	return err
}

func overQuota(name, format string, args ...any) error {
	return &memory.FieldError{Field: "quotas." + name, Message: fmt.Sprintf(format, args...), Meaning: memory.ErrQuota}
}
