package projection

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/schema"
	"github.com/eunoe-memory/eunoe/pkg/store/sketch"
)

// factState is what decides which indexes change with a fact: its row as it was, and as it becomes. no is 0 for a fact
// that is not stored.
type factState struct {
	no                    int64
	text, grams, entities string
	live                  bool
	said                  int64
}

// neighbourText is the text under which a fact is found as a neighbour: only live facts are.
func (f factState) neighbourText() string {
	if f.no == 0 || !f.live {
		return ""
	}
	return f.text
}

// storedFacts returns the states of those of the facts that are stored.
func (a *applier) storedFacts(bank int64, ids []memory.FactID) (map[memory.FactID]factState, error) {
	const find = `SELECT f.id, f.no, f.text, f.grams, f.entities, f.live, f.said FROM json_each(?1) j CROSS JOIN facts f ON f.id = j.value WHERE +f.bank = ?2`
	out := make(map[memory.FactID]factState, len(ids))
	if a.known != nil {
		ids = slices.DeleteFunc(slices.Clone(ids), func(id memory.FactID) bool { return a.known.facts[id] })
	}
	if len(ids) == 0 {
		return out, nil
	}
	err := a.tx.Each("look up facts", find, []any{engine.List(ids), bank}, func(rows *sql.Rows) error {
		var id memory.FactID
		var was factState
		err := rows.Scan(&id, &was.no, &was.text, &was.grams, &was.entities, &was.live, &was.said)
		out[id] = was
		return err
	})
	return out, err
}

// stored is what the changes being applied find of the records that they change.
type stored struct {
	facts      map[memory.FactID]factState // of those that they put
	composites map[memory.CompositeID]compositeState
	entities   map[memory.EntityID]memory.Entity
	events     map[uint64]storedEvent // of those that end, by sequence
}

// readStored reads, together, what is stored of what changes are about.
func (a *applier) readStored(bank int64, c memory.Changes) error {
	facts := make([]memory.FactID, len(c.Facts))
	for i, f := range c.Facts {
		facts[i] = f.ID
	}
	defer func() { a.known = nil }()
	return a.tx.Together(
		func(tx *engine.Tx) error {
			if len(c.Facts) == 0 || !tx.Sends() { // else it is read when it is needed
				return nil
			}
			return a.next.read(tx, "facts")
		},
		func(tx *engine.Tx) error {
			if len(c.Composites) == 0 || !tx.Sends() {
				return nil
			}
			return a.next.read(tx, "composites")
		},
		func(tx *engine.Tx) (err error) {
			a.stored.facts, err = a.in(tx).storedFacts(bank, facts)
			return err
		},
		func(tx *engine.Tx) (err error) {
			a.stored.composites, err = a.in(tx).storedComposites(bank, c)
			return err
		},
		func(tx *engine.Tx) (err error) {
			a.stored.entities, err = a.in(tx).storedEntities(bank, c.Entities)
			return err
		},
		func(tx *engine.Tx) (err error) {
			a.stored.events, err = a.in(tx).storedEvents(bank, c.Ended)
			return err
		},
	)
}

// putFacts stores the whole new state of facts.
func (a *applier) putFacts(bank int64, facts []memory.Fact) error {
	id := func(f memory.Fact) memory.FactID { return f.ID }
	err := eachTogether(a, facts, id, func(a *applier, f memory.Fact) error {
		now, err := a.putFact(bank, f, a.stored.facts[f.ID])
		if a.stored.facts[f.ID] = now; err != nil {
			return fmt.Errorf("store fact %s: %w", f.ID, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return a.countEntities(bank)
}

// putFact stores the whole new state of a fact, and returns it. A nil vector keeps the stored one.
func (a *applier) putFact(bank int64, f memory.Fact, was factState) (now factState, err error) {
	f.Text = engine.Text(f.Text)
	now = factState{no: was.no, text: f.Text, grams: was.grams, live: f.Live(), said: engine.Micros(f.Said)}
	if was.no == 0 || was.text != f.Text {
		now.grams = schema.Grams(f.Text)
	}
	if now.entities, err = engine.JSONList(f.Entities); err != nil {
		return now, err
	}
	if now.no, err = a.putFactRow(bank, f, now, was.no); err != nil {
		return now, err
	}
	var before *memory.Fact
	if read, ok := a.cache.Fact(bank, f.ID); ok {
		before = &read
	}
	a.cache.PutFact(bank, now.no, f, was.no != 0)
	switch {
	case was.no == 0:
		a.counter.Came(bank, memory.RecordFact, now.no)
	case was.text != now.text:
		a.counter.Reworded(bank, memory.RecordFact)
	}
	if !now.live || was.no != 0 && !was.live {
		a.counter.Turned(bank, memory.RecordFact, now.no)
	}
	var sources []memory.Source
	err = inTurn(
		func() error { return a.indexFact(bank, was, now) },
		func() error { return a.putTerms(bank, 0, now.no, was.neighbourText(), now.neighbourText()) },
		func() (err error) {
			sources, err = a.putSources(bank, now.no, f.ID, f.Sources, was.no != 0)
			return err
		},
		func() error { return a.putFactEntities(bank, f.Entities, was, now) },
		func() error { return a.putFactVector(bank, now.no, was.no != 0, f.Vector) },
	)
	if err == nil {
		a.keepFact(bank, f, sources, was.no != 0, before)
	}
	return now, err
}

const insertFact = `INSERT INTO facts (key, text, grams, kind, type, topic, speaker, role, session, occurred_from, occurred_to,
  said, recorded, live, valid, subject, attribute, value, superseded, merged, confidence, entities, tags, ops, outcome, metadata,
  version, pinned, extractor, model, bounds, id, bank, no)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

const updateFact = `UPDATE facts SET key = ?, text = ?, grams = ?, kind = ?, type = ?, topic = ?, speaker = ?, role = ?, session = ?,
  occurred_from = ?, occurred_to = ?, said = ?, recorded = ?, live = ?, valid = ?, subject = ?, attribute = ?, value = ?,
  superseded = ?, merged = ?, confidence = ?, entities = ?, tags = ?, ops = ?, outcome = ?, metadata = ?,
  version = ?, pinned = ?, extractor = ?, model = ?, bounds = ? WHERE no = ?`

func (a *applier) putFactRow(bank int64, f memory.Fact, now factState, no int64) (int64, error) {
	valid, err1 := schema.ValidText(f)
	tags, err2 := engine.JSONList(f.Tags)
	ops, err3 := engine.JSONList(f.Ops)
	outcome, err4 := engine.JSONOrNull(f.Outcome == nil, f.Outcome)
	metadata, err5 := engine.JSONOrNull(len(f.Metadata) == 0, f.Metadata)
	bounds, err6 := engine.JSONOrNull(f.Bounds == nil, f.Bounds)
	if err := errors.Join(err1, err2, err3, err4, err5, err6); err != nil {
		return 0, err
	}
	var subject, attribute, value any
	if f.State != nil {
		subject, attribute, value = engine.Text(string(f.State.Subject)), engine.Text(f.State.Attribute), engine.Text(f.State.Value)
	}
	args := []any{engine.TextOrNull(f.Key), now.text, now.grams, string(f.Kind), string(f.Type), engine.Text(f.Topic), engine.Text(f.Speaker), string(f.Role),
		engine.Text(string(f.Session)), engine.TimeOrNull(f.Occurred.From), engine.TimeOrNull(f.Occurred.To), engine.Micros(f.Said),
		engine.Micros(f.Recorded) - engine.Micros(f.Said), now.live, valid, subject, attribute, value,
		engine.TextOrNull(string(f.Superseded)), engine.TextOrNull(string(f.Merged)), f.Confidence, now.entities, tags, ops, outcome, metadata,
		int64(f.Version), f.Pinned, f.Extractor, f.Model, bounds}
	if no != 0 {
		return no, a.tx.Exec("update", updateFact, append(args, no)...)
	}
	no, err := a.next.take(a.tx, "facts")
	if err != nil {
		return 0, err
	}
	return no, a.tx.Exec("insert", insertFact, append(args, string(f.ID), bank, no)...)
}

// indexFact keeps the text index in step with the row of a fact.
func (a *applier) indexFact(bank int64, was, now factState) error {
	if was.no != 0 && was.text == now.text {
		return nil
	}
	var before []string
	if was.no != 0 {
		before = []string{was.text, was.grams}
	}
	return a.facts.Reindex(a.tx, now.no, bank, before, []string{now.text, now.grams})
}

// putTerms replaces the terms under which a node is found as a neighbour by those of its new text; "" has none.
func (a *applier) putTerms(bank int64, level int, no int64, was, now string) error {
	if was == now {
		return nil
	}
	if was != "" {
		terms := schema.Terms(was)
		a.cache.RemoveTerms(bank, level, no, terms)
		if err := a.tx.Exec("remove terms", a.tx.Engine().TermTable().Remove, bank, level, no, engine.List(terms)); err != nil {
			return err
		}
	}
	if now == "" {
		return nil
	}
	terms := schema.Terms(now)
	a.cache.AddTerms(bank, level, no, terms)
	return a.tx.Exec("store terms", a.tx.Engine().TermTable().Put, bank, level, no, engine.List(terms))
}

// putFactVector stores the vector of a fact; nil keeps the stored one. A new fact without a vector is queued for one.
func (a *applier) putFactVector(bank, fact int64, stored bool, v memory.Vector) error {
	switch {
	case v == nil && stored:
		return nil
	case v == nil:
		return a.tx.Exec("queue for a vector", `INSERT INTO unembedded (fact) VALUES (?)`, fact)
	case stored:
		queued, err := a.tx.Changed("remove from the queue for vectors", `DELETE FROM unembedded WHERE fact = ?`, fact)
		if err != nil {
			return err
		}
		if !queued { // composites may share the vector it had
			a.cache.Clear()
			if err := a.keepVectors(fact); err != nil {
				return err
			}
		}
	}
	a.counter.Vector(bank, memory.RecordFact, fact)
	const put = `INSERT INTO fact_vectors (bank, fact, vector) VALUES (?, ?, ?) ON CONFLICT (fact) DO UPDATE SET vector = excluded.vector`
	return a.tx.Exec("store vector", put, bank, fact, sketch.Pack(v))
}

// keepVectors leaves the composites that share the vector of a fact the one that they have, before the fact's changes or goes.
func (a *applier) keepVectors(fact int64) error {
	const keep = `UPDATE composite_vectors SET vector = (SELECT v.vector FROM fact_vectors v WHERE v.fact = ?1), fact = NULL WHERE fact = ?1`
	return a.tx.Exec("keep the vectors of composites", keep, fact)
}
