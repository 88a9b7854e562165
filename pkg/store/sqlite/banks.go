package sqlite

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// bankRow gives the row number of a bank, 0 when it has no row.
func (a *applier) bankRow(id memory.BankID) (int64, error) {
	if no, ok := a.seen[id]; ok {
		return no, nil
	}
	var no int64
	err := a.tx.QueryRowContext(a.ctx, `SELECT no FROM banks WHERE id = ?`, string(id)).Scan(&no)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("look up bank %q: %w", string(id), err)
	}
	a.seen[id] = no
	return no, nil
}

// nameBank gives the row number of a bank and makes a row for it if need be.
// The row alone does not make the bank: an op on a bank that is not there
// needs a place, and so does what is left of an erased one.
func (a *applier) nameBank(id memory.BankID) (int64, error) {
	no, err := a.bankRow(id)
	if err != nil || no != 0 {
		return no, err
	}
	r, err := a.tx.ExecContext(a.ctx, `INSERT INTO banks (id, profile) VALUES (?, '')`, string(id))
	if err == nil {
		no, err = r.LastInsertId()
	}
	if err != nil {
		return 0, fmt.Errorf("name bank %q: %w", string(id), err)
	}
	a.seen[id] = no
	return no, nil
}

// makeBank is nameBank that gives a bank without a profile the default one.
func (a *applier) makeBank(id memory.BankID, at time.Time) (int64, error) {
	no, err := a.nameBank(id)
	if err != nil || a.made[id] {
		return no, err
	}
	var profile string
	if err := a.tx.QueryRowContext(a.ctx, `SELECT profile FROM banks WHERE no = ?`, no).Scan(&profile); err != nil {
		return 0, fmt.Errorf("read bank %q: %w", string(id), err)
	}
	if profile == "" {
		b := defaultBank(id)
		b.Created = memory.At(at)
		err = a.putBank(no, b)
	}
	a.made[id] = err == nil
	return no, err
}

func defaultBank(id memory.BankID) memory.Bank {
	return memory.Bank{ID: id, Disposition: memory.DefaultDisposition()}
}

// markErased notes that a bank was erased, where nothing of it is left; a bank
// that had nothing to erase is noted too, as it is in a rebuild.
func (a *applier) markErased(no int64, id memory.BankID) error {
	delete(a.made, id)
	if _, err := a.tx.ExecContext(a.ctx, `UPDATE banks SET erased = 1 WHERE no = ? AND profile = ''`, no); err != nil {
		return fmt.Errorf("note that bank %q was erased: %w", string(id), err)
	}
	return nil
}

// bankErased reports whether a bank was erased and not made again.
func (a *applier) bankErased(id memory.BankID) (bool, error) {
	var gone bool
	err := a.tx.QueryRowContext(a.ctx, `SELECT EXISTS (SELECT 1 FROM banks WHERE id = ? AND erased = 1)`, string(id)).Scan(&gone)
	if err != nil {
		return false, fmt.Errorf("look up bank %q: %w", string(id), err)
	}
	return gone, nil
}

// putProfile stores a new profile of a bank; nil changes nothing.
func (a *applier) putProfile(bank int64, id memory.BankID, b *memory.Bank) error {
	if b == nil {
		return nil
	}
	profile := *b
	profile.ID = id
	return a.putBank(bank, profile)
}

// putBank stores a profile.
func (a *applier) putBank(no int64, b memory.Bank) error {
	raw, err := json.Marshal(b)
	if err == nil {
		_, err = a.tx.ExecContext(a.ctx, `UPDATE banks SET profile = ?, version = ?, erased = 0 WHERE no = ?`, string(raw), int64(b.Version), no)
	}
	if err != nil {
		return fmt.Errorf("store the profile of bank %q: %w", string(b.ID), err)
	}
	return nil
}
