package projection

import (
	"maps"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/schema"
)

// messageKey is the id of a message as the store has it.
type messageKey struct {
	bank memory.BankID
	id   string
}

func keyOf(bank memory.BankID, id memory.MessageID) messageKey {
	return messageKey{bank, engine.Text(string(id))}
}

// idOf returns the id of the message of an event; "" where it is not known.
func idOf(e consolidate.MessageEvent) memory.MessageID {
	if e.Message != nil {
		return e.Message.ID
	}
	return e.ID
}

// messageIDs are, of the ids of a batch of events, those under which a message is stored and those under which one was
// forgotten. An id may be both.
type messageIDs struct {
	stored, buried map[messageKey]bool
}

// readIDs reads, together, the rows of the banks of events and what became of messages under the ids of the events.
func (a *applier) readIDs(events []consolidate.MessageEvent) error {
	a.ids = messageIDs{map[messageKey]bool{}, map[messageKey]bool{}}
	ids := map[memory.BankID][]string{}
	for _, e := range events {
		if e.State == "" {
			continue
		}
		if list := ids[e.Bank]; e.State == memory.StateForgotten || idOf(e) == "" {
			ids[e.Bank] = list // its row alone
		} else {
			ids[e.Bank] = append(list, keyOf(e.Bank, idOf(e)).id)
		}
	}
	banks := slices.Sorted(maps.Keys(ids))
	read := func(a *applier, bank memory.BankID) error {
		among := func(what, table string, found map[messageKey]bool) func(tx *engine.Tx) error {
			return func(tx *engine.Tx) error {
				find := `SELECT id FROM ` + table + ` WHERE bank = (SELECT no FROM banks WHERE id = ?) AND id IN (SELECT value FROM json_each(?))`
				list, err := engine.Column[string](tx, what, find, string(bank), engine.List(ids[bank]))
				for _, id := range list {
					found[messageKey{bank, id}] = true
				}
				return err
			}
		}
		run := []func(tx *engine.Tx) error{func(tx *engine.Tx) error {
			_, err := a.in(tx).bankRow(bank)
			return err
		}}
		if len(ids[bank]) > 0 {
			run = append(run, among("look for messages", schema.Messages().Table, a.ids.stored), among("look for tombstones", "tombstones", a.ids.buried))
		}
		return a.tx.Together(run...)
	}
	return eachTogether(a, banks, func(b memory.BankID) memory.BankID { return b }, read)
}
