package consolidate_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/eunoe-memory/eunoe/pkg/consolidate"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/consolidatetest"
	"github.com/eunoe-memory/eunoe/pkg/consolidate/retry"
	"github.com/eunoe-memory/eunoe/pkg/events"
	"github.com/eunoe-memory/eunoe/pkg/events/natstest"
	"github.com/eunoe-memory/eunoe/pkg/events/ordered"
	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/sqlite"
	"github.com/eunoe-memory/eunoe/pkg/text/secret"
)

// chronicle makes a random log of two banks: messages, some of them repeats or malformed, ends of windows, what is
// retained, edited and used, profiles, and forgets of every kind.
type chronicle struct {
	*stage
	*rand.Rand
	said  map[memory.BankID][]said
	facts map[memory.BankID][]memory.FactID
	// applies are the ops of applies that may be taken back.
	applies map[memory.BankID][]string
	n       int
	era     map[memory.BankID]int // how often a bank was erased: until the receipt its ids are used, and then they are free
}

// said is a message and the session it was said in.
type said struct {
	memory.Source
	session memory.SessionID
}

var (
	subjects = []string{"boat", "lathe", "orchard", "violin", "kiln", "tractor"}
	verbs    = []string{"owns a", "sold the", "repairs a", "dreams of a", "paints the"}
)

func (c *chronicle) pick(list []string) string { return list[c.IntN(len(list))] }

func (c *chronicle) put(bank memory.BankID, w memory.Write) {
	c.Helper()
	c.n++
	w.Bank, w.Op = bank, fmt.Sprintf("op-%d", c.n)
	if _, err := c.conn.AppendWrite(c.Context(), w); err != nil {
		c.Fatal(err)
	}
}

func (c *chronicle) last(bank memory.BankID) uint64 {
	c.Helper()
	seq, err := c.conn.LastMessage(c.Context(), bank)
	if err != nil {
		c.Fatal(err)
	}
	return seq
}

func (c *chronicle) publish(bank memory.BankID) {
	c.Helper()
	id := fmt.Sprintf("m%d.%d", c.era[bank], c.IntN(12))
	session := memory.SessionID([]string{"s", "t"}[c.IntN(2)])
	body, _ := json.Marshal(memory.Message{ID: memory.MessageID(id), Speaker: c.pick([]string{"Ann", "Ben"}), Content: "I have a " + c.pick(subjects), Time: at(c.n)})
	if c.IntN(8) == 0 {
		body = []byte(`{"speaker":"Ann","content":7}`)
	}
	seq, err := c.conn.PublishMessage(c.Context(), bank, session, body)
	if err != nil {
		c.Fatal(err)
	}
	c.said[bank] = append(c.said[bank], said{memory.Source{Message: memory.MessageID(id), Seq: seq, Said: at(c.n), Start: at(c.n)}, session})
}

func (c *chronicle) fact(bank memory.BankID) memory.Fact {
	c.Helper()
	speaker := c.pick([]string{"Ann", "Ben"})
	f := consolidatetest.Fact(c.T, speaker, fmt.Sprintf("%s %s %s.", speaker, c.pick(verbs), c.pick(subjects)))
	f.ID = memory.NewFactID(bank, f.Text, f.Kind)
	c.facts[bank] = append(c.facts[bank], f.ID)
	return f
}

// window ends the window of one message, or of that and a later one of its session, of some generation. What it was made of
// may be forgotten by then. There is at least one message.
func (c *chronicle) window(bank memory.BankID) {
	at := c.IntN(len(c.said[bank]))
	m := c.said[bank][at]
	over := []said{m}
	for _, later := range c.said[bank][at+1:] {
		if later.session == m.session && c.IntN(3) == 0 {
			over = append(over, later)
			break
		}
	}
	last := over[len(over)-1].Seq
	w := memory.Window{ID: memory.NewWindowID(bank, m.session, m.Seq, last, 0)}
	if w.Generation = max(0, c.IntN(5)-2); w.Generation > 0 {
		w.ID = memory.NewWindowID(bank, m.session, m.Seq, last, w.Generation)
	}
	for _, o := range over {
		w.New = append(w.New, memory.WindowMessage{Seq: o.Seq})
	}
	end := &memory.WindowEnd{Window: w, SessionID: m.session, Outcome: memory.WindowEmpty}
	var facts []memory.Fact
	for range c.IntN(3) {
		f := c.fact(bank)
		f.Sources, end.Outcome = []memory.Source{over[c.IntN(len(over))].Source}, memory.WindowFacts
		if len(over) > 1 && c.IntN(3) == 0 {
			f.Sources = []memory.Source{over[0].Source, over[1].Source}
			if c.IntN(2) == 0 {
				f.Tags = []string{memory.TagAnswer}
			}
		}
		facts = append(facts, f)
	}
	c.put(bank, memory.Write{Kind: memory.WriteWindow, Upto: last, Window: end, Facts: facts})
}

// curate makes two changes at once, of which the second may be impossible, or takes an earlier apply back.
func (c *chronicle) curate(bank memory.BankID) {
	if list := c.applies[bank]; len(list) > 0 && c.IntN(3) == 0 {
		c.put(bank, memory.Write{Kind: memory.WriteUndo, Undo: list[c.IntN(len(list))]})
		return
	}
	w := memory.Write{Kind: memory.WriteApply, Facts: []memory.Fact{c.fact(bank)},
		Apply: []memory.CurationWrite{{Curation: memory.Curation{Op: memory.CurateRemember}, Facts: []int{0}}}}
	id := c.facts[bank][c.IntN(len(c.facts[bank]))]
	w.Apply = append(w.Apply, memory.CurationWrite{Curation: memory.Curation{Op: memory.CuratePin, ID: string(id)}})
	c.put(bank, w)
	c.applies[bank] = append(c.applies[bank], fmt.Sprintf("op-%d", c.n))
}

func (c *chronicle) forget(bank memory.BankID) {
	r := memory.ForgetRequest{}
	switch c.IntN(6) {
	case 0:
		r.Session = "s"
	case 1:
		r.Speaker = "ann"
	case 2:
		r.Bank = true
		c.era[bank]++
	case 3:
		if len(c.facts[bank]) > 0 {
			r.ID, r.KeepMessages = string(c.facts[bank][c.IntN(len(c.facts[bank]))]), c.IntN(3) == 0
			break
		}
		fallthrough
	default:
		r.ID = fmt.Sprintf("m%d.%d", c.era[bank], c.IntN(12))
	}
	c.put(bank, memory.Write{Kind: memory.WriteForget, Upto: c.last(bank), Forget: &r})
}

// step adds one event, or a few.
func (c *chronicle) step() {
	bank := memory.BankID([]string{"alice", "bob"}[c.IntN(2)])
	c.n++
	name := fmt.Sprintf("name %d", c.n)
	switch k := c.IntN(22); {
	case k < 8:
		c.publish(bank)
	case k < 14 && len(c.said[bank]) > 0:
		c.window(bank)
	case k < 16:
		c.put(bank, memory.Write{Kind: memory.WriteRetain, Facts: []memory.Fact{c.fact(bank), c.fact(bank)}})
	case k == 16 && len(c.facts[bank]) > 0:
		id := c.facts[bank][c.IntN(len(c.facts[bank]))]
		c.put(bank, memory.Write{Kind: memory.WriteEdit, Edit: &memory.EditWrite{EditRequest: memory.EditRequest{ID: id, Tags: &[]string{"seen"}}}})
	case k == 17:
		c.put(bank, memory.Write{Kind: memory.WriteBank, Upto: c.last(bank), Profile: &memory.BankUpdate{Create: c.IntN(2) == 0, Name: &name}})
	case k == 18:
		c.put(bank, memory.Write{Kind: memory.WriteObserve, Observe: &memory.ObserveRequest{}})
	case k < 20:
		c.curate(bank)
	default:
		c.forget(bank)
	}
}

func newChronicle(s *stage, seed uint64) *chronicle {
	return &chronicle{stage: s, Rand: rand.New(rand.NewPCG(seed, 7)), said: map[memory.BankID][]said{}, facts: map[memory.BankID][]memory.FactID{},
		applies: map[memory.BankID][]string{}, era: map[memory.BankID]int{}}
}

// read returns all events of a stream.
func (s *stage) read(stream string) (out []events.Event) {
	s.Helper()
	_, err := ordered.Scan(s.Context(), s.conn, stream, nil, 0, func(e events.Event) error { out = append(out, e); return nil })
	if err != nil {
		s.Fatal(err)
	}
	return out
}

// applied applies both streams to an empty store: messages as soon as ahead says so, else when a write waits for them.
func (s *stage) appliedBy(ahead func() bool) *sqlite.DB {
	s.Helper()
	redactor, err := secret.NewRedactor(nil)
	if err != nil {
		s.Fatal(err)
	}
	db := openStore(s.T, filepath.Join(s.TempDir(), "eunoe.db"))
	a, err := consolidate.NewApplier(s.Context(), settings(), consolidate.Deps{Conn: s.conn, Store: db, Redactor: redactor, Log: zerolog.Nop()}, retry.Policy{GiveUp: time.Second})
	if err != nil {
		s.Fatal(err)
	}
	messages, writes := s.read(s.conn.Naming.Messages()), s.read(s.conn.Naming.Writes())
	for len(messages)+len(writes) > 0 {
		var w memory.Write
		if len(writes) > 0 {
			if w, err = writes[0].Write(); err != nil {
				s.Fatal(err)
			}
		}
		if len(messages) > 0 && (len(writes) == 0 || w.Upto > a.Messages() || ahead()) {
			err = a.ApplyMessages(s.Context(), decoded(s.T, messages[:1], redactor))
			messages = messages[1:]
		} else {
			err = a.ApplyWrites(s.Context(), []consolidate.Write{{Event: writes[0], Write: &w}})
			writes = writes[1:]
		}
		if err != nil {
			s.Fatal(err)
		}
	}
	return db
}

// appliedByBank applies both streams to an empty store, as a consolidator that holds bob: of each bank in the order of the
// log, each write once its bank's messages are there.
func (s *stage) appliedByBank(bobIsNext func() bool) *sqlite.DB {
	s.Helper()
	redactor, err := secret.NewRedactor(nil)
	if err != nil {
		s.Fatal(err)
	}
	db := openStore(s.T, filepath.Join(s.TempDir(), "eunoe.db"))
	a, err := consolidate.NewApplier(s.Context(), settings(), consolidate.Deps{Conn: s.conn, Store: db, Redactor: redactor, Log: zerolog.Nop()}, retry.Policy{GiveUp: time.Second})
	if err != nil {
		s.Fatal(err)
	}
	writes := s.read(s.conn.Naming.Writes())
	var others, bob []events.Event
	end := uint64(0)
	for _, e := range s.read(s.conn.Naming.Messages()) {
		if end = e.Seq; e.Bank == "bob" {
			bob = append(bob, e)
		} else {
			others = append(others, e)
		}
	}
	before := func(list []events.Event) uint64 { // all up to it is applied
		if len(list) == 0 {
			return end
		}
		return list[0].Seq - 1
	}
	for len(others)+len(bob)+len(writes) > 0 {
		if len(writes) > 0 {
			w, err := writes[0].Write()
			if err != nil {
				s.Fatal(err)
			}
			if w.Upto <= a.MessagesOf(w.Bank) {
				if err := a.ApplyWrites(s.Context(), []consolidate.Write{{Event: writes[0], Write: &w}}); err != nil {
					s.Fatal(err)
				}
				writes = writes[1:]
				continue
			}
		}
		next := &others
		if len(others) == 0 || len(bob) > 0 && bobIsNext() {
			next = &bob
		}
		batch := decoded(s.T, (*next)[:1], redactor)
		*next = (*next)[1:]
		batch.To = &memory.MessagePosition{Seq: min(before(others), before(bob)), Ahead: before(others), Held: map[memory.BankID]uint64{"bob": before(bob)}}
		if err := a.ApplyMessages(s.Context(), batch); err != nil {
			s.Fatal(err)
		}
	}
	return db
}

// TestNothingDependsOnWhichBankIsAhead applies generated logs with one bank's messages held behind the other's, and as they
// come: the stores are equal.
func TestNothingDependsOnWhichBankIsAhead(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(fmt.Sprintf("log %d", seed), func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			c := newChronicle(s, seed+200)
			for range 60 {
				c.step()
			}
			want := dumpOf(t, s.appliedBy(func() bool { return true }))
			for name, bob := range map[string]func() bool{"late": func() bool { return false }, "early": func() bool { return true }, "in between": func() bool { return c.IntN(2) == 0 }} {
				if d := cmp.Diff(strings.Split(want, "\n"), strings.Split(dumpOf(t, s.appliedByBank(bob)), "\n")); d != "" {
					t.Errorf("with bob %s (-in the order of the log +%s):\n%.3000s", name, name, d)
				}
			}
		})
	}
}

// TestNothingDependsOnWhichStreamIsAhead applies generated logs with either stream ahead of the other, as a consolidator
// without and with a backlog and a rebuild do: the stores are equal.
func TestNothingDependsOnWhichStreamIsAhead(t *testing.T) {
	t.Parallel()
	for seed := range uint64(16) {
		t.Run(fmt.Sprintf("log %d", seed), func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			c := newChronicle(s, seed)
			for range 60 {
				c.step()
			}
			want := dumpOf(t, s.appliedBy(func() bool { return true }))
			for name, ahead := range map[string]func() bool{"writes": func() bool { return false }, "neither": func() bool { return c.IntN(2) == 0 }} {
				if d := cmp.Diff(strings.Split(want, "\n"), strings.Split(dumpOf(t, s.appliedBy(ahead)), "\n")); d != "" {
					t.Errorf("with %s ahead (-messages ahead +%s):\n%.3000s", name, name, d)
				}
			}
		})
	}
}

// TestARebuildAfterForgetsIsTheStore runs a consolidator over generated logs, lets it carry out its erasures, and rebuilds
// the store from what is left of the log.
func TestARebuildAfterForgetsIsTheStore(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		t.Run(fmt.Sprintf("log %d", seed), func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			stop := s.run()
			c := newChronicle(s, seed+100)
			for range 60 {
				c.step()
			}
			s.carriedOut()
			stop()
			again := openStore(t, filepath.Join(t.TempDir(), "again.db"))
			if err := s.rebuilder(again).Rebuild(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(kept(dumpOf(t, s.db)), kept(dumpOf(t, again))); d != "" {
				t.Errorf("-live +rebuilt:\n%.6000s", d)
			}
		})
	}
}

// refusals are the results of a write that were refused, in the dump of its outcome.
var refusals = regexp.MustCompile(`\{[^{}]*\\"outcome\\":\\"refused\\"[^{}]*\}`)

// kept returns what of a dump is equal after a forget too: all but the versions of facts, and composites and observations,
// which may rest on what came first among what is left.
func kept(dump string) (out []string) {
	for _, line := range strings.Split(dump, "\n") {
		table, _, _ := strings.Cut(strings.TrimPrefix(line, `["`), `"`)
		switch table {
		case "ops":
			refused := strings.Join(refusals.FindAllString(line, -1), " ")
			if at := strings.Index(line, `"{\"`); at > 0 && !strings.Contains(line, "receipt") && !strings.Contains(line, `\"code\":`) { // a fact that one message less says is not retold
				line = line[:at]
			}
			line += refused
			out = append(out, strings.TrimSuffix(line, `"{}"]`))
		case "banks", "message_events", "messages", "replacements", "windows", "fact_sources", "tombstones":
			out = append(out, line)
		case "facts":
			id, _, _ := strings.Cut(line, ",\"world\"")
			out = append(out, id)
		}
	}
	return out
}

// carriedOut waits until the log is applied, what it erases is erased, and what that appended is applied.
func (s *stage) carriedOut() {
	s.Helper()
	natstest.Eventually(s.T, "everything is applied and erased", func() bool {
		_, writes, err1 := s.db.Applied(s.Context())
		list, err2 := s.db.Erasures(s.Context(), "", 1)
		end, err3 := s.conn.LastSeq(s.Context(), s.conn.Naming.Writes())
		return err1 == nil && err2 == nil && err3 == nil && len(list) == 0 && writes == end
	})
}

// decoded decodes messages.
func decoded(t *testing.T, run []events.Event, redactor consolidate.Redactor) consolidate.MessageBatch {
	t.Helper()
	batch, err := consolidate.DecodeMessages(t.Context(), run, redactor, nil)
	if err != nil {
		t.Fatal(err)
	}
	return batch
}
