package faults

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/eunoe-memory/eunoe/pkg/client"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store"
	"github.com/eunoe-memory/eunoe/pkg/wire"
)

// Outcome is what a run left behind, in a form by which two runs can be compared.
type Outcome struct {
	// Messages holds the text stored under each message id, by bank.
	Messages map[memory.BankID]map[memory.MessageID]string
	// Facts holds the sorted ids of the facts extracted from each message, by bank.
	Facts map[memory.BankID]map[memory.MessageID]string
	// Windows holds the facts of each window, by session and the ids of its messages.
	Windows  map[string]string
	Repeated map[string]bool // sessions in which a message was published twice, by bank and name
	Problems []string
}

func (b *Outcome) problem(format string, args ...any) {
	b.Problems = append(b.Problems, fmt.Sprintf(format, args...))
}

// Audit reads what a run left in the log and what the endpoints answer, and compares both with what was acknowledged.
func Audit(ctx context.Context, c *client.Client, t Traffic, l *Acks) (*Outcome, error) {
	b := &Outcome{Messages: map[memory.BankID]map[memory.MessageID]string{}, Facts: map[memory.BankID]map[memory.MessageID]string{},
		Windows: map[string]string{}, Repeated: map[string]bool{}}
	logged, err := b.readLog(ctx, c.Conn(), l)
	if err != nil {
		return nil, err
	}
	if err := b.readWrites(ctx, c.Conn(), logged); err != nil {
		return nil, err
	}
	if err := b.readChanges(ctx, c.Conn()); err != nil {
		return nil, err
	}
	for _, bank := range t.Banks() {
		if err := b.readBank(ctx, c, bank, logged); err != nil {
			return nil, err
		}
	}
	for _, session := range t.Sessions {
		for _, s := range session {
			if _, ok := b.Messages[s.Bank][s.ID]; !ok {
				b.problem("message %s was acknowledged and is not stored", s.ID)
			}
		}
	}
	return b, nil
}

// logged is a message event of the log.
type loggedMessage struct {
	bank    memory.BankID
	session memory.SessionID
	id      memory.MessageID
}

// readLog reads the messages of the log and compares them with the acknowledgements.
func (b *Outcome) readLog(ctx context.Context, conn *events.Conn, l *Acks) (map[uint64]loggedMessage, error) {
	logged := map[uint64]loggedMessage{}
	first := map[string]bool{}
	_, err := ordered.Scan(ctx, conn, conn.Naming.Messages(), nil, 0, func(e events.Event) error {
		if e.Kind != events.KindMessage {
			return nil
		}
		m, err := e.Message()
		if err != nil {
			b.problem("message %d cannot be read: %v", e.Seq, err)
			return nil
		}
		logged[e.Seq] = loggedMessage{e.Bank, e.Session, m.ID}
		if key := string(e.Bank) + "/" + string(m.ID); first[key] {
			b.Repeated[string(e.Bank)+"/"+string(e.Session)] = true
		} else {
			first[key] = true
		}
		return nil
	})
	for bank, ids := range l.acked {
		for id, seq := range ids {
			if got := logged[seq]; got.bank != bank || got.id != id {
				b.problem("message %s of %s was acknowledged at %d, where the log has %q", id, bank, seq, got.id)
			}
		}
	}
	return logged, err
}

// readWrites reads the results of the windows.
func (b *Outcome) readWrites(ctx context.Context, conn *events.Conn, logged map[uint64]loggedMessage) error {
	window := map[uint64]memory.WindowID{}
	facts := map[memory.BankID]map[memory.MessageID]map[string]bool{}
	_, err := ordered.Scan(ctx, conn, conn.Naming.Writes(), nil, 0, func(e events.Event) error {
		w, err := e.Write()
		if err != nil {
			b.problem("write %d cannot be read: %v", e.Seq, err)
			return nil
		}
		if w.Window == nil {
			return nil
		}
		var ids, extracted []string
		for _, m := range w.Window.New {
			if other, ok := window[m.Seq]; ok && other != w.Window.ID {
				b.problem("message %d is new in two windows", m.Seq)
			}
			window[m.Seq] = w.Window.ID
			ids = append(ids, string(logged[m.Seq].id))
		}
		for _, f := range w.Facts {
			extracted = append(extracted, string(f.ID))
			for _, s := range f.Sources {
				if facts[w.Bank] == nil {
					facts[w.Bank] = map[memory.MessageID]map[string]bool{}
				}
				if facts[w.Bank][s.Message] == nil {
					facts[w.Bank][s.Message] = map[string]bool{}
				}
				facts[w.Bank][s.Message][string(f.ID)] = true
			}
		}
		slices.Sort(extracted)
		session := string(w.Bank) + "/" + string(w.Window.SessionID)
		b.Windows[session+": "+strings.Join(ids, " ")] = strings.Join(extracted, " ")
		return nil
	})
	for seq, m := range logged {
		if _, ok := window[seq]; !ok {
			b.problem("message %d (%s) is new in no window that ended", seq, m.id)
		}
	}
	for bank, by := range facts {
		b.Facts[bank] = map[memory.MessageID]string{}
		for id, set := range by {
			var list []string
			for f := range set {
				list = append(list, f)
			}
			slices.Sort(list)
			b.Facts[bank][id] = strings.Join(list, " ")
		}
	}
	return err
}

// readChanges checks that change events which come again under one id are equal.
func (b *Outcome) readChanges(ctx context.Context, conn *events.Conn) error {
	seen := map[string]string{}
	_, err := ordered.Scan(ctx, conn, conn.Naming.Changes(), nil, 0, func(e events.Event) error {
		var c memory.Change
		if err := memory.DecodeEvent(e.Data, &c); err != nil {
			b.problem("change %d cannot be read: %v", e.Seq, err)
			return nil
		}
		key := string(e.Bank) + "/" + c.ID
		body := e.What + " " + string(e.Data)
		if before, ok := seen[key]; ok && before != body {
			b.problem("change %s came twice and says two things", c.ID)
		}
		seen[key] = body
		return nil
	})
	return err
}

// readBank asks the endpoints what a bank holds.
func (b *Outcome) readBank(ctx context.Context, c *client.Client, bank memory.BankID, logged map[uint64]loggedMessage) error {
	published := 0
	for _, m := range logged {
		if m.bank == bank {
			published++
		}
	}
	st, err := c.Status(ctx, bank)
	if err != nil {
		return fmt.Errorf("status of %s: %w", bank, err)
	}
	k := st.Conservation
	if k.Published != published || k.Sum() != published || k.Pending != 0 || k.Dead != 0 || k.Forgotten != 0 || k.Throttled != 0 || k.Skipped != 0 {
		b.problem("bank %s: the log has %d messages, conservation says %+v", bank, published, k)
	}
	stored := map[memory.MessageID]string{}
	for item, err := range c.All(ctx, bank, wire.ListRequest{Record: memory.RecordMessage, Limit: 500}) {
		if err != nil {
			return fmt.Errorf("messages of %s: %w", bank, err)
		}
		if _, twice := stored[memory.MessageID(item.ID)]; twice {
			b.problem("message %s is stored twice", item.ID)
		}
		stored[memory.MessageID(item.ID)] = item.Text
	}
	b.Messages[bank] = stored
	if k.Committed+k.Empty != len(stored) || k.Duplicate != published-len(stored) {
		b.problem("bank %s: %d messages are stored, conservation says %+v", bank, len(stored), k)
	}
	facts := map[string]bool{}
	for item, err := range c.All(ctx, bank, wire.ListRequest{Record: memory.RecordFact, Limit: 500}) {
		if err != nil {
			return fmt.Errorf("facts of %s: %w", bank, err)
		}
		if facts[item.ID] {
			b.problem("fact %s is listed twice", item.ID)
		}
		facts[item.ID] = true
		sources := slices.Clone(item.Sources)
		slices.Sort(sources)
		if len(slices.Compact(sources)) != len(item.Sources) {
			b.problem("fact %s has a source twice", item.ID)
		}
	}
	return nil
}

// Differences lists where two outcomes differ: messages, facts by message, and windows of the sessions in which neither
// run published anything twice.
func (b *Outcome) Differences(other *Outcome) []string {
	var out []string
	for bank, messages := range other.Messages {
		for id, text := range messages {
			if got, ok := b.Messages[bank][id]; !ok || got != text {
				out = append(out, fmt.Sprintf("message %s of %s is %q, and %q in the run without faults", id, bank, got, text))
			}
			if got, want := b.Facts[bank][id], other.Facts[bank][id]; got != want {
				out = append(out, fmt.Sprintf("message %s of %s gave facts %q, and %q in the run without faults", id, bank, got, want))
			}
		}
		if len(b.Messages[bank]) != len(messages) {
			out = append(out, fmt.Sprintf("bank %s holds %d messages, and %d in the run without faults", bank, len(b.Messages[bank]), len(messages)))
		}
	}
	for key, want := range other.Windows {
		session, _, _ := strings.Cut(key, ": ")
		if b.Repeated[session] || other.Repeated[session] {
			continue
		}
		if got, ok := b.Windows[key]; !ok || got != want {
			out = append(out, fmt.Sprintf("window %s gave %q, and %q in the run without faults", key, got, want))
		}
	}
	slices.Sort(out)
	return out
}

// Dump returns the logical content of the stores of all shards, which no process has open.
func Dump(ctx context.Context, path string, shards int) (string, error) {
	var b bytes.Buffer
	for _, s := range events.Shards(shards) {
		st, err := store.Open(store.Config{DSN: store.ShardDSN(path, s), ReadOnly: true})
		if err != nil {
			return "", err
		}
		if err := errors.Join(st.Dump(ctx, &b), st.Close()); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}
