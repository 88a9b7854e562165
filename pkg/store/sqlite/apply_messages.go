package sqlite

import (
	"context"
	"fmt"
	"math"

	"github.com/eunoe-memory/eunoe/pkg/analysis"
	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// ApplyMessages stores message events, in order, as one transaction. The work
// of one event does not grow with the store: facts are neither read nor written.
func (db *DB) ApplyMessages(ctx context.Context, after, last uint64, events []consolidate.MessageEvent) error {
	err := db.apply(ctx, func(a *applier) error {
		if err := advance(a.ctx, a.tx, StreamMessages, after, last); err != nil {
			return err
		}
		tombs, err := a.anyTombstones()
		if err != nil {
			return err
		}
		prev := after
		for _, e := range events {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := inRun(StreamMessages, prev, e.Seq, last); err != nil {
				return err
			}
			prev = e.Seq
			if err := a.messageEvent(e, tombs); err != nil {
				return fmt.Errorf("apply message event %d: %w", e.Seq, err)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("apply messages %d to %d: %w", after, last, err)
	}
	return nil
}

func (a *applier) messageEvent(e consolidate.MessageEvent, tombs bool) error {
	bank, err := a.makeBank(e.Bank, e.Stored)
	if err != nil {
		return err
	}
	row := eventRow{seq: e.Seq, bank: bank, session: e.Session, state: e.State, stored: micros(e.Stored)}
	if e.Message == nil {
		return a.putEvent(row)
	}
	m := e.Message
	if tombs {
		gone, err := a.tombstoned(bank, string(m.ID), e.Seq)
		if err != nil {
			return err
		}
		if gone {
			row.state = memory.StateForgotten
			return a.putEvent(row)
		}
	}
	stored, err := a.putMessage(bank, e)
	if err != nil {
		return err
	}
	if !stored {
		row.state, row.id, row.speaker = memory.StateDuplicate, orNull(string(m.ID)), orNull(m.Speaker)
		return a.putEvent(row)
	}
	if err := a.putEvent(row); err != nil {
		return err
	}
	if err := a.replaceMessage(bank, m, e.Seq); err != nil {
		return err
	}
	return a.emit(e.Bank, memory.Change{
		ID: memory.NewChangeID(StreamMessages, e.Seq, 0), What: memory.ChangeMessage, Op: memory.OutcomeAdded,
		Record: string(m.ID), Message: e.Seq, Time: memory.At(e.Stored),
	}, e.Trace)
}

// eventRow is a row of message_events.
type eventRow struct {
	seq         uint64
	bank        int64
	session     memory.SessionID
	state       memory.MessageState
	stored      int64
	id, speaker any
}

func (a *applier) putEvent(r eventRow) error {
	const insert = `INSERT INTO message_events (seq, bank, session, state, stored, id, speaker) VALUES (?, ?, ?, ?, ?, ?, ?)`
	return a.exec("store event", insert, int64(r.seq), r.bank, text(string(r.session)), string(r.state), r.stored, r.id, r.speaker)
}

// putMessage stores a message and its words; stored is false when the id is taken.
func (a *applier) putMessage(bank int64, e consolidate.MessageEvent) (stored bool, err error) {
	const insert = `INSERT INTO messages (seq, bank, id, session, role, speaker, content, caption, indexed, grams,
  time, stored, topic, replaces, recalled, images, metadata, extra)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (bank, id) DO NOTHING`
	m := e.Message
	images, err := jsonOrNull(len(m.Images) == 0, m.Images)
	if err != nil {
		return false, err
	}
	metadata, err := jsonOrNull(len(m.Metadata) == 0, m.Metadata)
	if err != nil {
		return false, err
	}
	extra, err := jsonOrNull(len(m.Extra) == 0, m.Extra)
	if err != nil {
		return false, err
	}
	words := messageWords{seq: e.Seq, bank: bankToken(bank), content: text(m.Content), caption: text(m.Caption())}
	var indexed any
	if e.Indexed != "" && e.Indexed != m.Content {
		words.content = text(e.Indexed)
		indexed = words.content
	}
	words.grams = gramsOf(words.content, words.caption)
	stored, err = changed(a.tx.ExecContext(a.ctx, insert, int64(e.Seq), bank, text(string(m.ID)), text(string(e.Session)), string(m.Role), text(m.Speaker),
		text(m.Content), words.caption, indexed, words.grams, micros(m.Time), micros(e.Stored), text(m.Topic), text(string(m.Replaces)),
		m.Recalled, images, metadata, extra))
	if err != nil {
		return false, fmt.Errorf("store message: %w", err)
	}
	if !stored {
		return false, nil
	}
	return true, a.index("index message", `INSERT INTO messages_fts (rowid, bank, content, caption, grams) VALUES (?, ?, ?, ?, ?)`, words)
}

// messageWords are the values of one row of the messages' text index.
type messageWords struct {
	seq                           uint64
	bank, content, caption, grams string
}

func (a *applier) index(what, statement string, w messageWords) error {
	return a.exec(what, statement, int64(w.seq), w.bank, w.content, w.caption, w.grams)
}

// replaceMessage marks the message that m takes the place of, if it is stored.
// One that arrives later stays: the mark is only made here.
func (a *applier) replaceMessage(bank int64, m *memory.Message, seq uint64) error {
	if m.Replaces == "" || m.Replaces == m.ID {
		return nil
	}
	const mark = `UPDATE messages SET replaced = min(coalesce(replaced, ?), ?) WHERE bank = ? AND id = ? AND seq < ?`
	return a.exec("mark what it replaces", mark, int64(math.MaxInt64), micros(m.Time), bank, text(string(m.Replaces)), int64(seq))
}

func (a *applier) anyTombstones() (any bool, err error) {
	err = a.tx.QueryRowContext(a.ctx, `SELECT EXISTS (SELECT 1 FROM tombstones)`).Scan(&any)
	return any, err
}

func (a *applier) tombstoned(bank int64, id string, seq uint64) (gone bool, err error) {
	const find = `SELECT EXISTS (SELECT 1 FROM tombstones WHERE bank = ? AND id = ? AND seq = ?)`
	err = a.tx.QueryRowContext(a.ctx, find, bank, text(id), int64(seq)).Scan(&gone)
	return gone, err
}

// bankToken is the word that stands for a bank in a text index.
func bankToken(bank int64) string { return fmt.Sprintf("b%d", bank) }

// gramsOf gives the grams of several texts.
func gramsOf(texts ...string) string {
	out := ""
	for _, t := range texts {
		g := analysis.Grams(t)
		if out != "" && g != "" {
			out += " "
		}
		out += g
	}
	return out
}
