package sqlite

import (
	"database/sql"
	"fmt"
	"slices"

	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// indexFact keeps the text index in step with a fact's row.
func (a *applier) indexFact(bank int64, was, now factBefore) error {
	if was.no != 0 && was.text == now.text {
		return nil
	}
	if was.no != 0 {
		if err := a.unindex("facts_fts", was.no, bank, was.text, was.grams); err != nil {
			return err
		}
	}
	return a.exec("index", `INSERT INTO facts_fts (rowid, bank, text, grams) VALUES (?, ?, ?, ?)`, now.no, bankToken(bank), now.text, now.grams)
}

// unindex takes the words of a row out of a text index; text and grams must be
// the ones it was indexed with.
func (a *applier) unindex(table string, no, bank int64, text, grams string) error {
	return a.exec("unindex", fmt.Sprintf(`INSERT INTO %[1]s (%[1]s, rowid, bank, text, grams) VALUES ('delete', ?, ?, ?, ?)`, table),
		no, bankToken(bank), text, grams)
}

// putSources makes the sources of a fact the given ones, writing only what differs.
func (a *applier) putSources(fact int64, sources []memory.Source, stored bool) error {
	was := map[uint64]memory.Source{}
	if stored {
		const find = `SELECT seq, message, said, said + start FROM fact_sources WHERE fact = ?`
		err := a.rows("read sources", find, []any{fact}, func(rows *sql.Rows) error {
			var s memory.Source
			var said, start int64
			err := rows.Scan(&s.Seq, &s.Message, &said, &start)
			s.Said, s.Start = fromMicros(said), fromMicros(start)
			was[s.Seq] = s
			return err
		})
		if err != nil {
			return err
		}
	}
	const put = `INSERT INTO fact_sources (fact, seq, message, said, start) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (fact, seq) DO UPDATE SET message = excluded.message, said = excluded.said, start = excluded.start`
	now := make(map[uint64]bool, len(sources))
	for _, s := range sources {
		now[s.Seq] = true
		if w, ok := was[s.Seq]; ok && w.Message == s.Message && w.Said.Equal(s.Said) && w.Start.Equal(s.Start) {
			continue
		}
		if err := a.exec("store source", put, fact, int64(s.Seq), text(string(s.Message)), micros(s.Said), micros(s.Start)-micros(s.Said)); err != nil {
			return err
		}
	}
	for seq := range was { // any order: each is its own row
		if !now[seq] {
			if err := a.exec("remove source", `DELETE FROM fact_sources WHERE fact = ? AND seq = ?`, fact, int64(seq)); err != nil {
				return err
			}
		}
	}
	return nil
}

// putFactEntities makes the entities of a fact the given ones and keeps count
// of the live facts that name each.
func (a *applier) putFactEntities(bank int64, entities []memory.EntityID, was, now factBefore) error {
	if was.no != 0 && was.entities == now.entities && was.live == now.live && was.said == now.said {
		return nil
	}
	var before []memory.EntityID
	if was.no != 0 {
		if err := fromJSON([]byte(was.entities), &before); err != nil {
			return err
		}
		a.memo.dropEntities(bank, before...)
		a.memo.dropEntities(bank, entities...)
	}
	for i, e := range entities {
		if slices.Index(entities, e) != i {
			continue
		}
		if !slices.Contains(before, e) {
			const insert = `INSERT INTO fact_entities (bank, entity, live, said, fact) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`
			if err := a.exec("store entity", insert, bank, text(string(e)), now.live, now.said, now.no); err != nil {
				return err
			}
			if was.no == 0 && now.live {
				a.memo.addFact(bank, e, dated{now.no, now.said})
			}
		}
		if now.live && (!was.live || !slices.Contains(before, e)) {
			if err := a.countEntity(bank, e, 1); err != nil {
				return err
			}
		}
	}
	for i, e := range before {
		if slices.Index(before, e) != i {
			continue
		}
		gone := !slices.Contains(entities, e)
		if err := a.moveFactEntity(bank, e, was, now, gone); err != nil {
			return err
		}
		if was.live && (gone || !now.live) {
			if err := a.countEntity(bank, e, -1); err != nil {
				return err
			}
		}
	}
	return nil
}

// moveFactEntity removes the row of a fact's entity that is gone, and gives that
// of another the fact's new time and state.
func (a *applier) moveFactEntity(bank int64, e memory.EntityID, was, now factBefore, gone bool) error {
	const row = ` WHERE bank = ? AND entity = ? AND live = ? AND said = ? AND fact = ?`
	switch {
	case gone:
		return a.exec("remove entity", `DELETE FROM fact_entities`+row, bank, text(string(e)), was.live, was.said, was.no)
	case was.live != now.live || was.said != now.said:
		return a.exec("date entity", `UPDATE fact_entities SET live = ?, said = ?`+row, now.live, now.said, bank, text(string(e)), was.live, was.said, was.no)
	}
	return nil
}

// countEntity adds to the number of live facts that name an entity.
func (a *applier) countEntity(bank int64, e memory.EntityID, n int) error {
	const add = `INSERT INTO entity_counts (bank, entity, live) VALUES (?1, ?2, ?3)
ON CONFLICT (bank, entity) DO UPDATE SET live = live + excluded.live`
	if err := a.exec("count entity", add, bank, text(string(e)), n); err != nil || n > 0 {
		return err
	}
	return a.exec("count entity", `DELETE FROM entity_counts WHERE bank = ? AND entity = ? AND live <= 0`, bank, text(string(e)))
}
