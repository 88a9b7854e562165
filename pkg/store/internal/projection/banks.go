package projection

import (
	"fmt"
	"time"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
)

// bankRow is what a transaction knows of the row of a bank. no is 0 for one that has none.
type bankRow struct {
	no      int64
	profile []byte
}

// bankRow returns the row of a bank as the transaction left it so far.
func (a *applier) bankRow(id memory.BankID) (*bankRow, error) {
	if b, ok := a.banks[id]; ok {
		return b, nil
	}
	b := &bankRow{}
	_, err := a.tx.Find(fmt.Sprintf("look up bank %q", string(id)), `SELECT no, profile FROM banks WHERE id = ?`, []any{string(id)}, &b.no, &b.profile)
	if err == nil {
		a.banks[id] = b
	}
	return b, err
}

// nameBank returns the row number of a bank and creates its row if necessary. The row alone does not create the bank: it
// holds ops on a bank that does not exist, and what remains of an erased one.
func (a *applier) nameBank(id memory.BankID) (int64, error) {
	b, err := a.bankRow(id)
	if err != nil || b.no != 0 {
		return b.no, err
	}
	b.no, err = a.tx.Insert(fmt.Sprintf("name bank %q", string(id)), `INSERT INTO banks (id, profile) VALUES (?, '')`, string(id))
	return b.no, err
}

// makeBank is nameBank that also gives a bank without a profile the default one. A bank is as old as the earliest event
// that made it, in whichever order they are applied.
func (a *applier) makeBank(id memory.BankID, at time.Time) (int64, error) {
	no, err := a.nameBank(id)
	if err != nil {
		return no, err
	}
	at = memory.At(at)
	if made, ok := a.made[id]; ok && !at.Before(made) {
		return no, nil
	}
	b := defaultBank(id)
	if err := engine.FromJSON(a.banks[id].profile, &b); err != nil {
		return 0, err
	}
	if b.Created.IsZero() || at.Before(b.Created) {
		b.Created = at
		if err := a.putBank(no, b); err != nil {
			return 0, err
		}
	}
	a.made[id] = b.Created
	return no, nil
}

func defaultBank(id memory.BankID) memory.Bank {
	return memory.Bank{ID: id, Disposition: memory.DefaultDisposition()}
}

// markErased records that a bank was erased. A bank that had nothing to erase is recorded too, as it is in a rebuild.
func (a *applier) markErased(no int64, id memory.BankID) error {
	delete(a.made, id)
	return a.tx.Exec(fmt.Sprintf("record that bank %q was erased", string(id)), `UPDATE banks SET erased = 1 WHERE no = ? AND profile = ''`, no)
}

// putProfile stores a new profile of a bank; nil changes nothing.
func (a *applier) putProfile(bank int64, id memory.BankID, b *memory.Bank) error {
	if b == nil {
		return nil
	}
	profile := *b
	profile.ID = id
	delete(a.made, id)
	return a.putBank(bank, profile)
}

func (a *applier) putBank(no int64, b memory.Bank) error {
	what := fmt.Sprintf("store the profile of bank %q", string(b.ID))
	raw, err := engine.JSON(b)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if row := a.banks[b.ID]; row != nil {
		row.profile = []byte(raw)
	}
	return a.tx.Exec(what, `UPDATE banks SET profile = ?, version = ?, erased = 0 WHERE no = ?`, raw, int64(b.Version), no)
}
