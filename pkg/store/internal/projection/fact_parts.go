package projection

import (
	"cmp"
	"database/sql"
	"maps"
	"slices"
	"strconv"

	"github.com/eunoe-memory/eunoe/pkg/memory"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/cache"
	"github.com/eunoe-memory/eunoe/pkg/store/internal/engine"
	"github.com/eunoe-memory/eunoe/pkg/store/sketch"
)

// putSources replaces the sources of a fact, and returns them as they are read. It writes only what differs.
func (a *applier) putSources(bank, fact int64, id memory.FactID, sources []memory.Source, stored bool) (now []memory.Source, err error) {
	var was []memory.Source
	if stored {
		if was, err = a.sourcesOf(bank, fact, id); err != nil {
			return nil, err
		}
	}
	// Most are as they were, also of a statement that is repeated without end: new ones are put behind them, into room that
	// nobody reads.
	same := 0
	for same < len(was) && same < len(sources) && sameSource(was[same], sources[same]) {
		same++
	}
	now = was[:same]
	if same < len(was) {
		now = slices.Clip(now)
	}
	for _, s := range sources[same:] {
		now = append(now, memory.Source{Seq: s.Seq, Message: memory.MessageID(engine.Text(string(s.Message))),
			Said: engine.AsStored(s.Said), Start: engine.AsStored(s.Start)})
	}
	if !slices.IsSortedFunc(now, bySeq) {
		now = slices.Clone(now)
		slices.SortStableFunc(now, bySeq)
		same = 0
	}
	const put = `INSERT INTO fact_sources (fact, seq, message, said, start) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (fact, seq) DO UPDATE SET message = excluded.message, said = excluded.said, start = excluded.start`
	k := same
	for _, s := range now[same:] {
		for ; k < len(was) && was[k].Seq < s.Seq; k++ {
			if err := a.removeSource(fact, was[k].Seq); err != nil {
				return nil, err
			}
		}
		if k < len(was) && was[k].Seq == s.Seq {
			equal := sameSource(was[k], s)
			if k++; equal {
				continue
			}
		}
		said := engine.Micros(s.Said)
		if err := a.tx.Exec("store source", put, fact, int64(s.Seq), string(s.Message), said, engine.Micros(s.Start)-said); err != nil {
			return nil, err
		}
	}
	for ; k < len(was); k++ {
		if err := a.removeSource(fact, was[k].Seq); err != nil {
			return nil, err
		}
	}
	a.cache.PutSources(bank, id, now)
	return now, nil
}

// sourcesOf returns the stored sources of a fact by sequence.
func (a *applier) sourcesOf(bank, fact int64, id memory.FactID) ([]memory.Source, error) {
	if list, ok := a.cache.Sources(bank, id); ok {
		return list, nil
	}
	const find = `SELECT seq, message, said, said + start FROM fact_sources WHERE fact = ? ORDER BY seq`
	return engine.All(a.tx, "read sources", find, []any{fact}, func(rows *sql.Rows) (s memory.Source, err error) {
		var said, start int64
		err = rows.Scan(&s.Seq, &s.Message, &said, &start)
		s.Said, s.Start = engine.Time(said), engine.Time(start)
		return s, err
	})
}

func (a *applier) removeSource(fact int64, seq uint64) error {
	return a.tx.Exec("remove source", `DELETE FROM fact_sources WHERE fact = ? AND seq = ?`, fact, int64(seq))
}

func sameSource(a, b memory.Source) bool {
	return a.Seq == b.Seq && a.Message == b.Message && a.Said.Equal(b.Said) && a.Start.Equal(b.Start)
}

func bySeq(a, b memory.Source) int { return cmp.Compare(a.Seq, b.Seq) }

// putFactEntities replaces the entities of a fact and counts the live facts that name each.
func (a *applier) putFactEntities(bank int64, entities []memory.EntityID, was, now factState) error {
	if was.no != 0 && was.entities == now.entities && was.live == now.live && was.said == now.said {
		return nil
	}
	var before []memory.EntityID
	if was.no != 0 {
		if err := engine.FromJSON([]byte(was.entities), &before); err != nil {
			return err
		}
		a.cache.DropEntityFacts(bank, before...)
		a.cache.DropEntityFacts(bank, entities...)
	}
	for i, e := range entities {
		if slices.Index(entities, e) != i {
			continue
		}
		if !slices.Contains(before, e) {
			const insert = `INSERT INTO fact_entities (bank, entity, live, said, fact) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`
			if err := a.tx.Exec("store entity", insert, bank, engine.Text(string(e)), now.live, now.said, now.no); err != nil {
				return err
			}
			if was.no == 0 && now.live {
				a.cache.AddFact(bank, e, cache.DatedFact{No: now.no, Said: now.said})
			}
		}
		if now.live && (!was.live || !slices.Contains(before, e)) {
			a.named[e]++
		}
	}
	for i, e := range before {
		if slices.Index(before, e) != i {
			continue
		}
		removed := !slices.Contains(entities, e)
		if err := a.moveFactEntity(bank, e, was, now, removed); err != nil {
			return err
		}
		if was.live && (removed || !now.live) {
			a.named[e]--
		}
	}
	return nil
}

// moveFactEntity deletes the row of an entity that a fact no longer names, and gives that of any other the fact's new
// time and state.
func (a *applier) moveFactEntity(bank int64, e memory.EntityID, was, now factState, removed bool) error {
	const row = ` WHERE bank = ? AND entity = ? AND live = ? AND said = ? AND fact = ?`
	switch {
	case removed:
		return a.tx.Exec("remove entity", `DELETE FROM fact_entities`+row, bank, engine.Text(string(e)), was.live, was.said, was.no)
	case was.live != now.live || was.said != now.said:
		return a.tx.Exec("date entity", `UPDATE fact_entities SET live = ?, said = ?`+row, now.live, now.said,
			bank, engine.Text(string(e)), was.live, was.said, was.no)
	}
	return nil
}

// countEntities stores how many more or fewer live facts name each entity after facts were put or removed (named).
func (a *applier) countEntities(bank int64) error {
	const (
		add = `INSERT INTO entity_counts (bank, entity, live) VALUES (?, ?, ?)
ON CONFLICT (bank, entity) DO UPDATE SET live = entity_counts.live + excluded.live`
		remove = `DELETE FROM entity_counts WHERE bank = ? AND entity IN (SELECT value FROM json_each(?)) AND live <= 0`
	)
	var fewer []string
	for _, e := range slices.Sorted(maps.Keys(a.named)) {
		n, id := a.named[e], engine.Text(string(e))
		if n == 0 {
			continue
		}
		if err := a.tx.Exec("count entity", add, bank, id, n); err != nil {
			return err
		}
		if n < 0 {
			fewer = append(fewer, id)
		}
	}
	clear(a.named)
	if len(fewer) == 0 {
		return nil
	}
	return a.tx.Exec("count entities", remove, bank, engine.List(fewer))
}

// putMessageVector stores the vector of a message. A message that has a vector keeps it; one that is not stored, or is of
// another bank, gets none.
func (a *applier) putMessageVector(bank int64, v memory.LateVector) error {
	const put = `INSERT INTO message_vectors (message, bank, vector) SELECT m.seq, m.bank, ?3 FROM messages m WHERE m.seq = ?1 AND +m.bank = ?2
ON CONFLICT (message) DO NOTHING`
	a.counter.Vector(bank, memory.RecordMessage, int64(v.Seq))
	return a.tx.Exec("store the vector of a message", put, int64(v.Seq), bank, sketch.Pack(v.Vector))
}

// noteVectors records which records' vectors a write holds apart from those of its own facts.
func (a *applier) noteVectors(bank int64, w memory.Write) error {
	const put = `INSERT INTO vector_events (bank, id, write) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`
	for _, v := range w.Vectors {
		id := v.ID
		if v.Record != memory.RecordFact {
			id = strconv.FormatUint(v.Seq, 10)
		}
		if err := a.tx.Exec("note a late vector", put, bank, engine.Text(id), int64(w.Seq)); err != nil {
			return err
		}
	}
	return nil
}
