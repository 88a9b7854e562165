package sqlite

import (
	"database/sql"
	"errors"
	"fmt"

	"github.com/eunoe-memory/eunoe/pkg/analysis"
	"github.com/eunoe-memory/eunoe/pkg/memory"
)

// putObservation stores the whole new state of an observation.
func (a *applier) putObservation(bank int64, o memory.Observation) error {
	const find = `SELECT no, text, grams FROM observations WHERE id = ? AND bank = ?`
	var no int64
	var was, wasGrams string
	err := a.tx.QueryRowContext(a.ctx, find, string(o.ID), bank).Scan(&no, &was, &wasGrams)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("look up observation %s: %w", o.ID, err)
	}
	what := "store observation " + string(o.ID)
	entities, err := listJSON(o.Entities)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	made, err := stampJSON(o.By)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	o.Text = text(o.Text)
	grams := analysis.Grams(o.Text)
	if no != 0 {
		if err := a.unindex("observations_fts", no, bank, was, wasGrams); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if err := a.exec(what, `DELETE FROM observation_facts WHERE observation = ?`, no); err != nil {
			return err
		}
	}
	const put = `INSERT INTO observations (id, bank, type, subject, text, grams, reasoning, confidence, entities, said, given, version, made)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET type = excluded.type, subject = excluded.subject, text = excluded.text, grams = excluded.grams,
  reasoning = excluded.reasoning, confidence = excluded.confidence, entities = excluded.entities, said = excluded.said,
  given = excluded.given, version = excluded.version, made = excluded.made RETURNING no`
	err = a.tx.QueryRowContext(a.ctx, put, string(o.ID), bank, string(o.Type), text(o.Subject), o.Text, grams, text(o.Reasoning), o.Confidence,
		entities, micros(o.Said), o.Given, int64(o.Version), made).Scan(&no)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if err := a.exec(what, `INSERT INTO observations_fts (rowid, bank, text, grams) VALUES (?, ?, ?, ?)`, no, bankToken(bank), o.Text, grams); err != nil {
		return err
	}
	return each(no, o.Facts, func(no int64, f memory.FactID) error {
		return a.exec(what, `INSERT INTO observation_facts (observation, fact) VALUES (?, ?) ON CONFLICT DO NOTHING`, no, string(f))
	})
}

// removeObservation removes an observation; one that is not there changes nothing.
func (a *applier) removeObservation(bank int64, id memory.ObservationID) error {
	const find = `SELECT no, text, grams FROM observations WHERE id = ? AND bank = ?`
	var no int64
	var words, grams string
	err := a.tx.QueryRowContext(a.ctx, find, string(id), bank).Scan(&no, &words, &grams)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look up observation %s: %w", id, err)
	}
	if err := a.unindex("observations_fts", no, bank, words, grams); err != nil {
		return fmt.Errorf("remove observation %s: %w", id, err)
	}
	if err := a.exec("remove observation "+string(id), `DELETE FROM observations WHERE no = ?`, no); err != nil {
		return err
	}
	return a.dropUses(bank, string(id))
}
